// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts how often each block of a driver is reached. The driver is compiled with -fsanitize-coverage=trace-pc, so
 * that each of its basic blocks calls __sanitizer_cov_trace_pc(), which is here and not in the driver: the counts
 * outlast the driver, however often it is unloaded and loaded.
 *
 * /proc/txop_coverage (root, read only) has them as text:
 *
 *   txop-coverage 1
 *   module NAME BYTES INIT-BYTES     a module that was loaded: size of its text, and of that which goes after init
 *   t OFFSET COUNT                   a block of it: where its call returns to, within the text (hexadecimal)
 *   i OFFSET COUNT                   the same, within the text that goes after init
 *   elsewhere COUNT                  calls from nowhere in these
 *
 * Unlike KCOV, which counts for the task that asks for it, this counts whatever context the driver runs in: tasks,
 * work queues, timers, interrupts. A count is one instruction that adds to memory, so that no interrupt of the same
 * processor loses one; with several processors some may be lost, and never which blocks were reached.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/version.h>
#include <linux/vmalloc.h>

#define MODULES_MAX 16
#define TEXT_MAX (8 << 20)	/* bytes of one module's text */
#define CALL_BYTES 4		/* a call takes 5: two of them never return to the same four bytes */

struct text {
	unsigned long base;
	unsigned long size;	/* 0: nothing is loaded there now */
	unsigned long whole;	/* size while it is */
	u32 *counts;		/* by CALL_BYTES */
};

struct covered {
	char name[MODULE_NAME_LEN];
	struct text text, init;
};

static struct covered modules[MODULES_MAX];	/* written under the mutex below */
static DEFINE_MUTEX(changing);
static unsigned int found;
static u32 elsewhere;

static __always_inline bool counted(struct text *text, unsigned long place)
{
	unsigned long size = smp_load_acquire(&text->size);	/* before the base: see loaded() */
	unsigned long offset = place - READ_ONCE(text->base);

	if (offset >= size)
		return false;
	asm volatile("incl %0" : "+m" (text->counts[offset / CALL_BYTES]));
	return true;
}

void __sanitizer_cov_trace_pc(void);

void notrace __sanitizer_cov_trace_pc(void)
{
	unsigned long place = (unsigned long)__builtin_return_address(0);
	unsigned int known = READ_ONCE(found), at;

	for (at = 0; at < known; at++)
		if (counted(&modules[at].text, place) || counted(&modules[at].init, place))
			return;
	elsewhere++;
}
EXPORT_SYMBOL_GPL(__sanitizer_cov_trace_pc);

static void text_of(const struct module *mod, struct text *text, struct text *init)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	text->base = (unsigned long)mod->mem[MOD_TEXT].base;
	text->whole = mod->mem[MOD_TEXT].size;
	init->base = (unsigned long)mod->mem[MOD_INIT_TEXT].base;
	init->whole = mod->mem[MOD_INIT_TEXT].size;
#else
	text->base = (unsigned long)mod->core_layout.base;
	text->whole = mod->core_layout.text_size;
	init->base = (unsigned long)mod->init_layout.base;
	init->whole = mod->init_layout.text_size;
#endif
}

static bool is_covered(const struct module *mod)
{
	const char *name = THIS_MODULE->name;
	const struct module_use *use;

	list_for_each_entry(use, &mod->target_list, target_list)
		if (!strcmp(use->target->name, name))
			return true;
	return false;
}

/* Where a module is now. The one that is loaded again has its counts of before. */
static void loaded(const struct module *mod)
{
	struct text text = {}, init = {};
	struct covered *covered;
	unsigned int at;

	text_of(mod, &text, &init);
	for (at = 0; at < found && strcmp(modules[at].name, mod->name); at++)
		;
	if (at == MODULES_MAX || text.whole > TEXT_MAX || init.whole > TEXT_MAX) {
		pr_err("txop_coverage: no room for %s\n", mod->name);
		return;
	}
	covered = &modules[at];
	if (at == found) {
		strscpy(covered->name, mod->name, sizeof(covered->name));
		covered->text.counts = vzalloc((text.whole / CALL_BYTES + 1) * sizeof(u32));
		covered->init.counts = vzalloc((init.whole / CALL_BYTES + 1) * sizeof(u32));
		if (!covered->text.counts || !covered->init.counts) {
			vfree(covered->text.counts);
			vfree(covered->init.counts);
			pr_err("txop_coverage: no memory for %s\n", mod->name);
			return;
		}
		covered->text.whole = text.whole;
		covered->init.whole = init.whole;
	} else if (covered->text.whole != text.whole || covered->init.whole != init.whole) {
		pr_err("txop_coverage: %s is another one now\n", mod->name);
		return;
	}
	WRITE_ONCE(covered->text.base, text.base);
	WRITE_ONCE(covered->init.base, init.base);
	smp_store_release(&covered->text.size, text.whole);
	smp_store_release(&covered->init.size, init.whole);
	smp_store_release(&found, max(found, at + 1));
}

static void unloaded(const struct module *mod, bool all)
{
	unsigned int at;

	for (at = 0; at < found; at++)
		if (!strcmp(modules[at].name, mod->name)) {
			WRITE_ONCE(modules[at].init.size, 0);
			if (all)
				WRITE_ONCE(modules[at].text.size, 0);
		}
}

static int module_changes(struct notifier_block *block, unsigned long state, void *data)
{
	const struct module *mod = data;

	mutex_lock(&changing);
	if (state == MODULE_STATE_COMING && is_covered(mod))
		loaded(mod);
	else if (state == MODULE_STATE_LIVE || state == MODULE_STATE_GOING)
		unloaded(mod, state == MODULE_STATE_GOING);
	mutex_unlock(&changing);
	return NOTIFY_OK;
}

static struct notifier_block block = { .notifier_call = module_changes };

static void show_text(struct seq_file *out, char kind, const struct text *text)
{
	unsigned long at;

	for (at = 0; at <= text->whole / CALL_BYTES; at++)
		if (text->counts[at])
			seq_printf(out, "%c %lx %u\n", kind, at * CALL_BYTES, text->counts[at]);
}

static int show(struct seq_file *out, void *unused)
{
	unsigned int at, known = smp_load_acquire(&found);

	seq_puts(out, "txop-coverage 1\n");
	for (at = 0; at < known; at++) {
		const struct covered *covered = &modules[at];

		seq_printf(out, "module %s %lu %lu\n", covered->name, covered->text.whole, covered->init.whole);
		show_text(out, 't', &covered->text);
		show_text(out, 'i', &covered->init);
	}
	seq_printf(out, "elsewhere %u\n", elsewhere);
	return 0;
}

static int __init coverage_init(void)
{
	int error;

	if (!proc_create_single("txop_coverage", 0400, NULL, show))
		return -ENOMEM;
	error = register_module_notifier(&block);
	if (error)
		remove_proc_entry("txop_coverage", NULL);
	return error;
}

static void __exit coverage_exit(void)
{
	unsigned int at;

	remove_proc_entry("txop_coverage", NULL);
	unregister_module_notifier(&block);
	for (at = 0; at < found; at++) {
		vfree(modules[at].text.counts);
		vfree(modules[at].init.counts);
	}
}

module_init(coverage_init);
module_exit(coverage_exit);
MODULE_DESCRIPTION("Counts how often blocks of instrumented drivers are reached");
MODULE_AUTHOR("txop contributors");
MODULE_LICENSE("GPL");
