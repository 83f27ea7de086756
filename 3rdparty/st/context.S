/* SPDX-License-Identifier: MIT */
/* context.S - leave one stack and go on with another.
 *
 *   void _st_context_switch(void **save, void *to)
 *
 * Pushes the registers that a call must keep, writes the stack pointer to *save, takes `to` for
 * it and pops. What a saved context points at, in words (scripts/gdb_co.py reads it):
 *   x86-64:  r15 r14 r13 r12 rbx rbp return-address
 *   aarch64: x19..x28 x29 x30 d8..d15
 *
 * A new context returns to _st_context_entry, whose frame is the end of the chain of frame
 * pointers (rbp, x29 and the return address are 0) and of DWARF unwinding.
 */
#if defined(__x86_64__)

        .text
        .globl _st_context_switch
        .hidden _st_context_switch
        .type _st_context_switch, @function
        .p2align 4
_st_context_switch:
        .cfi_startproc
        endbr64
        pushq %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbx, 0
        pushq %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r12, 0
        pushq %r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r13, 0
        pushq %r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r14, 0
        pushq %r15
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r15, 0
        movq %rsp, (%rdi)
        movq %rsi, %rsp
        popq %r15
        .cfi_adjust_cfa_offset -8
        .cfi_restore r15
        popq %r14
        .cfi_adjust_cfa_offset -8
        .cfi_restore r14
        popq %r13
        .cfi_adjust_cfa_offset -8
        .cfi_restore r13
        popq %r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore r12
        popq %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbx
        popq %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbp
        /* Not `ret`: the processor's stack of return addresses is of the other context. */
        popq %rcx
        .cfi_adjust_cfa_offset -8
        .cfi_register rip, rcx
        jmpq *%rcx
        .cfi_endproc
        .size _st_context_switch, .-_st_context_switch

        .globl _st_context_entry
        .hidden _st_context_entry
        .type _st_context_entry, @function
        .p2align 4
_st_context_entry:
        .cfi_startproc
        .cfi_undefined rip
        endbr64
        xorl %ebp, %ebp
        call _st_thread_main
        ud2
        .cfi_endproc
        .size _st_context_entry, .-_st_context_entry

#elif defined(__aarch64__)

        .text
        .globl _st_context_switch
        .hidden _st_context_switch
        .type _st_context_switch, %function
        .p2align 4
_st_context_switch:
        .cfi_startproc
        hint #34 /* bti c */
        sub sp, sp, #160
        .cfi_def_cfa_offset 160
        stp x19, x20, [sp, #0]
        stp x21, x22, [sp, #16]
        stp x23, x24, [sp, #32]
        stp x25, x26, [sp, #48]
        stp x27, x28, [sp, #64]
        stp x29, x30, [sp, #80]
        .cfi_rel_offset x29, 80
        .cfi_rel_offset x30, 88
        stp d8, d9, [sp, #96]
        stp d10, d11, [sp, #112]
        stp d12, d13, [sp, #128]
        stp d14, d15, [sp, #144]
        mov x9, sp
        str x9, [x0]
        mov sp, x1
        ldp x19, x20, [sp, #0]
        ldp x21, x22, [sp, #16]
        ldp x23, x24, [sp, #32]
        ldp x25, x26, [sp, #48]
        ldp x27, x28, [sp, #64]
        ldp x29, x30, [sp, #80]
        ldp d8, d9, [sp, #96]
        ldp d10, d11, [sp, #112]
        ldp d12, d13, [sp, #128]
        ldp d14, d15, [sp, #144]
        add sp, sp, #160
        .cfi_def_cfa_offset 0
        .cfi_restore x29
        .cfi_restore x30
        ret
        .cfi_endproc
        .size _st_context_switch, .-_st_context_switch

        .globl _st_context_entry
        .hidden _st_context_entry
        .type _st_context_entry, %function
        .p2align 4
_st_context_entry:
        .cfi_startproc
        .cfi_undefined x30
        hint #34 /* bti c */
        mov x29, #0
        mov x30, #0
        bl _st_thread_main
        brk #0
        .cfi_endproc
        .size _st_context_entry, .-_st_context_entry

#else
#error "no context switch for this machine: x86-64 and aarch64 only"
#endif

        .section .note.GNU-stack, "", %progbits
