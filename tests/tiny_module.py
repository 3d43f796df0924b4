"""What objdump says of a small module with counters in its blocks."""

from __future__ import annotations

LISTING = """\

tiny.ko:     file format elf64-x86-64

Sections:
Idx Name            Size      VMA               LMA               File off  Algn  Flags
  0 .text           00000026  0000000000000000  0000000000000000  00000040  2**0  CONTENTS, ALLOC, LOAD, RELOC, READONLY, CODE
  1 .data           00000000  0000000000000000  0000000000000000  00000066  2**0  CONTENTS, ALLOC, LOAD, DATA
  2 .bss            00000004  0000000000000000  0000000000000000  00000068  2**2  ALLOC
  3 .init.text      0000000e  0000000000000000  0000000000000000  00000068  2**0  CONTENTS, ALLOC, LOAD, RELOC, READONLY, CODE
  4 .exit.text      00000018  0000000000000000  0000000000000000  00000076  2**4  CONTENTS, ALLOC, LOAD, RELOC, READONLY, CODE
  5 .debug_info     00000076  0000000000000000  0000000000000000  0000008e  2**0  CONTENTS, RELOC, READONLY, DEBUGGING, OCTETS

Disassembly of section .text:

0000000000000000 <tiny_read>:
tiny_read():
/kernel/drivers/tiny.c:3
   0:	push   %rbx
/kernel/drivers/tiny.c:4 (discriminator 2)
   3:	call   8 <tiny_read+0x8>	4: R_X86_64_PLT32	__sanitizer_cov_trace_pc-0x4
   8:	cmp    $0x3,%ebx
   b:	jle    19 <tiny_read+0x19>
/kernel/drivers/tiny.c:5
   d:	call   12 <tiny_read+0x12>	e: R_X86_64_PLT32	__sanitizer_cov_trace_pc-0x4
  12:	addl   $0x1,0x0(%rip)        # 19 <tiny_read+0x19>	14: R_X86_64_PC32	.bss-0x5

0000000000000019 <tiny_read.cold>:
tiny_read.cold():
  19:	call   1e <tiny_read+0x1e>	1a: R_X86_64_PLT32	__sanitizer_cov_trace_pc-0x4
  1e:	mov    0x0(%rip),%eax        # 24 <tiny_read+0x24>	20: R_X86_64_PC32	.bss-0x4
  25:	ret

Disassembly of section .init.text:

0000000000000000 <tiny_init>:
tiny_init():
/kernel/drivers/tiny.c:10
   3:	call   8 <tiny_init+0x8>	4: R_X86_64_PLT32	__sanitizer_cov_trace_pc-0x4

Disassembly of section .exit.text:

0000000000000000 <tiny_read>:
tiny_read():
/kernel/drivers/tiny.c:14
   4:	call   9 <tiny_exit+0x9>	5: R_X86_64_PLT32	__sanitizer_cov_trace_pc-0x4
"""  # noqa: E501 - as objdump has it
