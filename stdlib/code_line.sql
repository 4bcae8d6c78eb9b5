-- view code_line: lines of 64 bytes of code that samples found a CPU at, over the whole recording
-- run: the run
-- pid: process
-- comm: name of the process
-- kind: file (program text), jit (code that the process made while it ran), kernel
-- code: number of what it lies in, see code_space
-- module: path of the file, or [kernel], [vdso]; null for jit
-- line: its address divided by 64: in the file, in the process for jit, of the kernel minus _text
-- samples: samples in it
select s.run as run, s.pid as pid, s.comm as comm, c.kind as kind, s.code as code, c.module as module, s.address >> 6 as line,
       count(*) as samples
from sample s join code_space c on c.run = s.run and c.number = s.code
where s.address is not null
group by s.run, s.pid, s.comm, c.kind, s.code, c.module, s.address >> 6
