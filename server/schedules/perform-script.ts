/** Performs a due script: runs it in the sandbox, and leaves a notice where it failed. */
import type { ScheduleId } from '../../src/shared/domain/ids.ts';
import { sentence } from '../../src/shared/domain/names.ts';
import { onOneLine, quote, titled } from '../../src/shared/domain/quoting.ts';
import { MINUTE_MS } from '../../src/shared/domain/schedule/timing.ts';
import type { ScheduleOf } from '../../src/shared/protocol/schedules.ts';
import type { Performed } from './clock.ts';
import { messageIdOf, type OccurrenceContext, type PerformDeps } from './occurrence-context.ts';
import { ended, skipped } from './outcomes.ts';
import type { Claim, Ended, LeftScript, Row } from './rows.ts';
import { howItEnded, type ScriptEnd } from './scripts.ts';

/** Time until a script that waits for its earlier run is tried again. */
const WAIT_MS = MINUTE_MS / 12;

type ScriptDeps = Pick<PerformDeps, 'rows' | 'scripts' | 'texts' | 'now'>;

const notRun = (why: string | null): ScriptEnd => ({
  ...{ kind: 'failed', by: 'nobody', output: '', cancels: false },
  status: why ?? 'It has no text.',
});

export function createScriptRuns({ rows, scripts, texts, now }: ScriptDeps, { whenOf }: OccurrenceContext) {
  /**
   * Leaves a notice for the agent if the schedule says so. The agent gets it as soon as it can be
   * woken.
   */
  async function failed(
    claim: Claim,
    { name, script: path, on_failure }: ScheduleOf<'script'>,
    kind: 'failed' | 'timed-out' | 'crashed',
    detail: { readonly said?: string; detail: string | null },
    { status, words }: { readonly status: string; readonly words: string },
  ): Promise<Ended> {
    if (on_failure === 'wake_agent') {
      const text = `[Script ${onOneLine(path)} failed. It is scheduled as ${titled(name)}. ${words}`;
      await rows.leaveNotice(claim, { messageId: messageIdOf(claim), name, status, text }, now());
    }
    return ended(kind, detail);
  }

  async function run(claim: Claim, scheduleId: ScheduleId, schedule: ScheduleOf<'script'>): Promise<Performed> {
    if (!schedule.enabled) return skipped('switched-off');
    const { running, before } = await rows.under(claim);
    // At most one waits. A script that takes longer than its interval would otherwise build up a
    // queue.
    if (running > 0) return schedule.overlap === 'wait' && before < 2 ? { again: now() + WAIT_MS } : skipped('overlap');
    // Recorded before the script starts, so that it does not run twice if the relay dies.
    if (!(await rows.beginsScript(claim, now()))) return skipped('overlap', 'Another process of this relay has it.');
    const { text, note } = await texts.toRun(scheduleId, schedule);
    const began = now();
    const ran = text === null ? notRun(note) : await scripts.run(schedule, text, (group) => rows.runsAs(claim, group));
    const { kind, status, output, cancels } = ran;
    const how = howItEnded(ran, now() - began);
    const about = [kind === 'done' ? null : how, text === null ? null : note].filter((part) => part !== null);
    const detail = { said: output, detail: about.join(' ') || null };
    if (cancels) await texts.withdraw(scheduleId);
    if (kind === 'done' || kind === 'stopped') return { ...ended(kind, detail), removes: cancels };
    const wrote = output === '' ? 'It wrote nothing.]' : `The end of what it wrote:]\n${quote(output)}`;
    const words = `${onOneLine(how)} ${wrote}`;
    return await failed(claim, schedule, kind, detail, { status, words });
  }

  /** Ends what is left of a script whose relay died. The script counts as crashed. */
  async function endLeft({ claim, group }: LeftScript, row: Row | null): Promise<Ended> {
    if (group) await scripts.endLeft(group);
    const detail = { detail: sentence`The relay stopped in the middle of it.` };
    if (row?.schedule.kind !== 'script') return ended('crashed', detail);
    const words = `It was due ${await whenOf(claim.dueAt)}, and the relay broke off while it ran. What it had done until then is done; it is not begun again.]`;
    return await failed(claim, row.schedule, 'crashed', detail, { status: 'the relay broke off', words });
  }

  return { run, endLeft };
}
