-- SPDX-License-Identifier: GPL-2.0
-- Something of everything that an interpreter does.
local t = {}
for i = 1, 300 do t[i] = (i * 7919) % 1009 end
table.sort(t)
local s = {}
for i, v in ipairs(t) do s[#s + 1] = string.format("%d:%x", i, v) end
local text = table.concat(s, ",")
for w in text:gmatch("%d+:(%x+)") do t[w] = #w end
local co = coroutine.wrap(function(a)
	for i = 1, 20 do a = coroutine.yield(a + i) end
	return a
end)
for i = 1, 20 do co(i) end
print(pcall(function() error({code = 2}) end), select("#", table.unpack(t)))
local mt = setmetatable({}, {
	__index = function(_, k) return k .. "!" end,
	__add = function(a, b) return 5 end,
	__gc = function() end,
})
print(mt.foo, mt + 1, math.sqrt(2), 7 // 2, 7.5 % 2, 1 << 5, "10" + 5)
collectgarbage()
collectgarbage("step")
print(load("local a <const> = 3; goto x; ::x:: return a, ...")(4))
print(load("return 1 +"))
print(string.rep("x", 10), ("abc"):upper(), string.pack("<i4", 77):byte(1, -1))
print(os.time{year=2020, month=1, day=2}, string.find("hello", "l+"))
