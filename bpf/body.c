// SPDX-License-Identifier: GPL-2.0
/*
 * A body: plan, code, placement, instructions. What its frame may be taken for is
 * tried out: the cheapest that fits is it.
 */
#include "body.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "assemble.h"
#include "code/code_print.h"
#include "code/generate.h"
#include "code/ops.h"
#include "place/place_print.h"
#include "plan/plan_print.h"
#include "static.h"

/*
 * Kernels from 6.13 on give a function whose frame is larger a frame elsewhere:
 * calls have to save its address, reads into it take the long way through the
 * kernel's checks of where is read to (a third longer), and programs that may be
 * preempted share it with who comes next on that CPU.
 */
#define FRAME_LEAN	48
#define FRAMES_MOST	512	/* of functions that call each other */
#define FRAME_UNIT	32	/* older kernels round a frame up to that */

/* What came of a frame */
struct frame_result {
	bool fits;
	bool lean;
	bool cramped;		/* more words were fewer reads */
	int reads;		/* calls that read memory in the first version */
};

static int frame_of(const struct placed *placed, int kind)
{
	int most = 0;

	for (size_t i = 0; i < placed->function_count; i++) {
		const struct placed_function *f = &placed->functions[i];
		int bytes = ((int)f->frame + FRAME_UNIT - 1) & -FRAME_UNIT;

		if ((f->kind == kind || (kind == BODY_UNWIND_FIRST &&
					 f->kind > kind)) && bytes > most)
			most = bytes ? bytes : FRAME_UNIT;
	}
	return most;
}

static int deeper(int a, int b)
{
	return a > b ? a : b;
}

/* Of all functions that are under way at a time */
static int frames_bytes(const struct placed *placed)
{
	int deepest = deeper(frame_of(placed, BODY_TREE),
			   frame_of(placed, BODY_UNWIND_FIRST));
	int walk = frame_of(placed, BODY_WALK) +
		   frame_of(placed, BODY_TREE_WALK) +
		   frame_of(placed, BODY_BRING_IN) +
		   frame_of(placed, BODY_TOUCH) +
		   frame_of(placed, BODY_MAPPING);
	int again = frame_of(placed, BODY_AGAIN) + deepest;

	return frame_of(placed, CODE_MAIN) +
	       deeper(deeper(walk, again), deeper(deepest,
					    frame_of(placed, BODY_KEEP)));
}

/* Those that more words of the frame would have saved */
static int reads_count(const struct placed *placed)
{
	const struct placed_function *main = placed->functions;
	size_t end = placed->function_count > 1 ? main[1].first : placed->count;
	int count = 0;

	for (size_t i = main->first; i < end; i++) {
		const struct code_op *op = &placed->ops[i];

		count += op->kind == CODE_CALL &&
			 (op->imm == BPF_FUNC_probe_read_user ||
			  op->imm == BPF_FUNC_probe_read_user_str ||
			  op->imm == BPF_FUNC_probe_read_kernel ||
			  op->imm == BPF_FUNC_probe_read_kernel_str);
	}
	return count;
}

static void frame_judge(struct frame_result *result, const struct plan *plan,
			const struct placed *placed)
{
	result->lean = placed->functions[0].frame <= FRAME_LEAN &&
		       frame_of(placed, BODY_TREE) <= FRAME_LEAN;
	result->cramped = plan->reads.cramped ||
			  (plan->begins && plan->begins->reads.cramped);
	result->reads = reads_count(placed);
	result->fits = (result->lean || plan->frame.alone) &&
		       frames_bytes(placed) <= FRAMES_MOST;
	/* what waits must not have its frame elsewhere */
	for (size_t i = 0; i < placed->function_count; i++)
		if (placed->functions[i].kind == BODY_WALK)
			result->fits &= placed->functions[i].frame <= FRAME_LEAN;
}

static int body_fail(const struct plan *plan, int code)
{
	return plan->err && plan->err->text[0] ? code :
	       error_set(plan->err, code, "cannot generate the body: %s",
			 strerror(-code));
}

static int generate_frame(struct body *body, struct plan *plan,
			  const struct plan_frame *frame,
			  struct frame_result *result)
{
	struct placed placed = { 0 };
	struct code code;
	int ret;

	memset(body, 0, sizeof(*body));
	memset(result, 0, sizeof(*result));
	plan_frame_set(plan, frame);
	ret = code_generate(&code, plan);
	if (!ret)
		ret = place_code(&placed, &code);
	if (!ret)
		ret = assemble_body(body, &placed);
	if (!ret) {
		frame_judge(result, plan, &placed);
		body->sleepable = plan->bring_in;
	}
	placed_free(&placed);
	code_free(&code);
	return ret ? body_fail(plan, ret) : 0;
}

/* A read into a large frame takes a third longer. */
static int frame_cost(const struct frame_result *result)
{
	return result->reads * (result->lean ? 3 : 4);
}

/* The last one is what all bodies can do with. */
static const struct plan_frame frames[] = {
	{ 5, 40, false }, { 2, 40, false }, { 0, 40, false }, { 0, 0, false },
	{ 16, 0, true }, { 0, 0, true },
};
#define FRAMES	(sizeof(frames) / sizeof(*frames))
#define FRAME_LARGE	4	/* the first that isn't lean */

/* After `best`, the i-th: has that one something to offer? */
static bool frame_promises(const struct frame_result *best, size_t i)
{
	if (i < FRAME_LARGE || i == FRAMES - 1)
		return !best->fits;
	return best->cramped || !best->fits;
}

/* The cheapest of those that fit, which the plan has then; where it is known that
 * it can't be a lean one these aren't tried. */
static int generate_cheapest(struct body *body, struct plan *plan)
{
	size_t first = plan->large ? FRAME_LARGE : 0, chosen = first;
	struct frame_result best, result;
	int ret = generate_frame(body, plan, &frames[first], &best);

	for (size_t i = first + 1; i < FRAMES; i++) {
		struct body other;
		int code;

		if (!frame_promises(&best, i) || (ret && ret != -E2BIG))
			continue;
		code = generate_frame(&other, plan, &frames[i], &result);
		if (best.fits && (code || !result.fits ||
				  frame_cost(&result) >= frame_cost(&best))) {
			body_free(&other);
			continue;
		}
		body_free(body);
		*body = other;
		best = result;
		chosen = i;
		ret = code;
	}
	plan_frame_set(plan, &frames[chosen]);
	if (!ret && !best.fits) {
		body_free(body);
		ret = body_fail(plan, -E2BIG);
	}
	if (!ret && plan->err)
		plan->err->text[0] = '\0';
	return ret;
}

/* The plans of a body: a session has two. */
struct plans {
	struct plan own, begins;
};

static int plans_make(struct plans *plans, const struct tdf *tdf,
		      const struct tdf_point *point,
		      const struct tdf_site *site,
		      const struct body_target *target, struct error *err)
{
	int ret = plan_make(&plans->own, tdf, point, site, target, err);

	if (ret || !plans->own.session)
		return ret;
	plans->own.begins = &plans->begins;
	plans->own.large = true;
	return plan_make(&plans->begins, tdf, point,
			 &tdf->sites[point->first_site], target, err);
}

static int generate_once(struct body *body, const struct tdf *tdf,
			 const struct tdf_point *point,
			 const struct tdf_site *site,
			 const struct body_target *target, struct error *err)
{
	struct plans plans;
	int ret = plans_make(&plans, tdf, point, site, target, err);

	memset(body, 0, sizeof(*body));
	return ret ? ret : generate_cheapest(body, &plans.own);
}

/* A record that is taken a second time may be farther away than jumps reach:
 * then what is absent stays so. */
int body_generate(struct body *body, const struct tdf *tdf,
		  const struct tdf_point *point, const struct tdf_site *site,
		  const struct body_target *target, struct error *err)
{
	struct body_target resident = *target;
	int ret = generate_once(body, tdf, point, site, target, err);

	if (ret != -E2BIG || !target->bring_in)
		return ret;
	resident.bring_in = false;
	return generate_once(body, tdf, point, site, &resident, err);
}

int body_generate_static(struct body *body, __u16 machine, int majors_fd,
			 const struct body_target *target, struct error *err)
{
	struct body_filter pids = { .pids_fd = -1 };
	struct body_target own = *target;
	struct plan plan;
	int ret;

	if (own.filter)
		pids.pids_fd = own.filter->pids_fd;
	own.filter = &pids;
	own.max_rate = 0;
	memset(body, 0, sizeof(*body));
	ret = plan_make_static(&plan, machine, majors_fd, &own, err);
	return ret ? ret : generate_cheapest(body, &plan);
}

bool body_is_session(const struct tdf *tdf, const struct tdf_point *point,
		     const struct body_target *target)
{
	return plan_is_session(tdf, point, target);
}

void body_free(struct body *body)
{
	free(body->insns);
	free(body->notes);
	memset(body, 0, sizeof(*body));
}

static int stage_print(FILE *out, enum body_stage stage, struct plan *plan)
{
	struct placed placed = { 0 };
	struct code code;
	int ret;

	if (stage == BODY_STAGE_PLAN) {
		plan_print(plan, out);
		return 0;
	}
	ret = code_generate(&code, plan);
	if (!ret && stage == BODY_STAGE_CODE)
		code_print(&code, out);
	else if (!ret)
		ret = place_code(&placed, &code);
	if (!ret && stage == BODY_STAGE_PLACED)
		place_print(&placed, out);
	placed_free(&placed);
	code_free(&code);
	return ret ? body_fail(plan, ret) : 0;
}

int body_stage_print(FILE *out, enum body_stage stage, const struct tdf *tdf,
		     const struct tdf_point *point,
		     const struct tdf_site *site,
		     const struct body_target *target, struct error *err)
{
	struct plans plans;
	struct body body = { 0 };
	int ret = plans_make(&plans, tdf, point, site, target, err);

	if (!ret)
		ret = generate_cheapest(&body, &plans.own);
	if (!ret)
		ret = stage_print(out, stage, &plans.own);
	body_free(&body);
	return ret;
}
