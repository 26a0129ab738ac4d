// SPDX-License-Identifier: GPL-2.0
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/json_read.h"
#include "lib/outfile.h"

#define ID_LENGTH	64	/* hexadecimal digits */
#define ID_LEAST	6	/* of these, to name a container by its id */
#define DEPTH_MOST	16	/* of directories */
#define DOCKER		"/var/lib/docker/containers"
#define PODMAN		"/var/lib/containers/storage/overlay-containers/containers.json"

struct unit_search {
	const char *name;
	char id[ID_LENGTH + 1];	/* of the container; "": the name may be one */
	char at[PATH_MAX];	/* directory that is looked through */
	int depth;
	char *path;		/* result */
	char other[PATH_MAX];
	unsigned int found;
};

static size_t hex_digits(const char *text)
{
	return strspn(text, "0123456789abcdef");
}

/* The JSON of a file, whose text becomes *text; both are to be freed. */
static bool file_json(const char *path, struct json_tree *tree, char **text)
{
	FILE *file = fopen(path, "re");
	ssize_t length = -1;
	size_t size = 0;

	*tree = (struct json_tree){ 0 };
	*text = NULL;
	if (file) {
		length = getdelim(text, &size, '\0', file);
		fclose(file);
	}
	return length >= 0 && !json_read(tree, *text, length, NULL);
}

static bool is_container_id(const char *id)
{
	return hex_digits(id) == ID_LENGTH && !id[ID_LENGTH];
}

/* docker has a directory for each container, with its name in a file:
 * {"Name":"/NAME", ... */
static void docker_visit(int directory, const char *id, void *context)
{
	struct unit_search *search = context;
	struct json_tree tree;
	const char *name;
	char path[PATH_MAX], *text;

	if (!is_container_id(id) ||
	    snprintf(path, sizeof(path), DOCKER "/%s/config.v2.json", id) >=
	    (int)sizeof(path))
		return;
	if (file_json(path, &tree, &text)) {
		name = json_node_text(json_member(tree.root, "Name"));
		if (name && name[0] == '/' && !strcmp(name + 1, search->name))
			strcpy(search->id, id);
	}
	json_tree_free(&tree);
	free(text);
}

/* podman: [{"id":"ID","names":["NAME"], ... */
static void podman_search(struct unit_search *search)
{
	const struct json_node *container, *name, *names;
	struct json_tree tree;
	const char *id;
	char *text;

	container = file_json(PODMAN, &tree, &text) &&
		    tree.root->kind == JSON_ARRAY ? tree.root->first : NULL;
	for (; container; container = container->next) {
		id = json_node_text(json_member(container, "id"));
		names = json_member(container, "names");
		if (!id || !is_container_id(id) || !names ||
		    names->kind != JSON_ARRAY)
			continue;
		for (name = names->first; name; name = name->next)
			if (json_node_is(name, search->name))
				strcpy(search->id, id);
	}
	json_tree_free(&tree);
	free(text);
}

/*
 * Is the directory that of the unit or container? "nginx.service",
 * "docker-ID.scope", "libpod-ID.scope", "cri-containerd-ID.scope", or the ID
 * alone.
 */
static bool unit_is(const struct unit_search *search, const char *directory)
{
	static const char *const kinds[] = { "", ".service", ".scope", ".slice" };
	size_t length = strlen(search->name);
	const char *id = strrchr(directory, '-');

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strncmp(directory, search->name, length) &&
		    !strcmp(directory + length, kinds[i]))
			return true;
	id = id ? id + 1 : directory;
	if (hex_digits(id) != ID_LENGTH)
		return false;
	if (search->id[0])
		return !strncmp(id, search->id, ID_LENGTH);
	return length >= ID_LEAST && hex_digits(search->name) == length &&
	       !strncmp(id, search->name, length);
}

static void cgroup_visit(int directory, const char *name, void *context)
{
	struct unit_search *search = context;
	size_t length = strlen(search->at);
	int fd;

	if (search->depth == DEPTH_MOST)
		return;
	fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
				     O_CLOEXEC);
	if (fd < 0)
		return;
	if (snprintf(search->at + length, sizeof(search->at) - length, "/%s",
		     name) < (int)(sizeof(search->at) - length)) {
		if (unit_is(search, name)) {
			/* what is below it belongs to it */
			strcpy(search->found++ ? search->other : search->path,
			       search->at);
		} else {
			search->depth++;
			directory_each(fd, cgroup_visit, search);
			search->depth--;
		}
	}
	search->at[length] = '\0';
	close(fd);
}

static void directory_visit(const char *path,
			    void (*visit)(int fd, const char *name,
					  void *context), void *context)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	directory_each(fd, visit, context);
	close(fd);
}

int unit_find(const char *name, const char *root, char path[PATH_MAX],
	      struct error *err)
{
	struct unit_search search = { .name = name, .path = path };

	if (!*name || strpbrk(name, "/\"\\"))
		return -ENOENT;
	snprintf(search.at, sizeof(search.at), "%s", root);
	directory_visit(DOCKER, docker_visit, &search);
	if (!search.id[0])
		podman_search(&search);
	directory_visit(root, cgroup_visit, &search);
	if (!search.found)
		return -ENOENT;
	if (search.found == 1)
		return 0;
	error_set(err, -EEXIST, "%u units or containers are named '%s': '%s', '%s'",
		  search.found, name, path, search.other);
	error_hint(err, "name the directory of one");
	return -EEXIST;
}
