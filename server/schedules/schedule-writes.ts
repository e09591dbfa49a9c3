/** Writes schedules: with the text of a script, in the order of the changes, and shown again. */
import type { AgentId, ScheduleId } from '../../src/shared/domain/ids.ts';
import { slotAfter } from '../../src/shared/domain/schedule/timing.ts';
import type { Schedule } from '../../src/shared/protocol/schedules.ts';
import type { Inbox } from '../team/inbox/index.ts';
import { isOn, type Row, type ScheduleRows } from './rows.ts';
import type { Clock } from './clock.ts';
import type { ScheduleLimits } from './settings.ts';
import { messageIdOf } from './occurrence-context.ts';
import type { Scripts, ScriptText, TextQuestions } from './scripts.ts';
import { CHANGED_ELSEWHERE, type createRefusals, nameTaken, noRoom, type Written } from './refusals.ts';
import type { createShown } from './shown.ts';
import type { Preview } from './preview.ts';

interface ScheduleWritesDeps {
  readonly rows: ScheduleRows;
  readonly inbox: Pick<Inbox, 'withdraw'>;
  readonly scripts: Pick<Scripts, 'read'>;
  readonly questions: TextQuestions;
  readonly preview: Preview;
  readonly clock: Pick<Clock, 'wake'>;
  readonly oneShown: ReturnType<typeof createShown>['oneShown'];
  readonly refuse: ReturnType<typeof createRefusals>;
  readonly changed: (agentId: AgentId) => void;
  readonly now: () => number;
  readonly limits: ScheduleLimits;
}

export function createScheduleWrites(deps: ScheduleWritesDeps) {
  const { rows, inbox, scripts, questions, preview, clock, oneShown, refuse, changed, now, limits } = deps;

  /**
   * The schedule with the hash of the script text that runs from now on. If the schedule names a
   * hash, it means exactly that text. `text`: accepted with this call; null: the text accepted
   * before stays. `problem`: a sentence on why the file cannot be read.
   */
  async function withText(schedule: Schedule, before: Row | null, given: ScriptText | undefined) {
    if (schedule.kind !== 'script') return { schedule, text: null, problem: null };
    if (given) return { schedule: { ...schedule, sha256: given.sha256 }, text: given, problem: null };
    const { sha256 } = schedule;
    const own = before?.schedule.kind === 'script' ? before.schedule : null;
    const isSame = own?.agentId === schedule.agentId && own.script === schedule.script;
    if (sha256 !== undefined && isSame && sha256 === own.sha256) return { schedule, text: null, problem: null };
    const file = await scripts.read(schedule.agentId, schedule.script);
    if (typeof file === 'string') return { schedule, text: null, problem: file };
    if (sha256 !== undefined && sha256 !== file.sha256) return { schedule, text: null, problem: null };
    return { schedule: { ...schedule, sha256: file.sha256 }, text: file, problem: null };
  }
  /**
   * Runs in a queue with the other writes, so that the position and the checks made before are
   * still valid.
   */
  async function written(
    scheduleId: ScheduleId,
    schedule: Schedule,
    position: number | null,
    text: ScriptText | null = null,
    version?: number,
  ): Promise<Written> {
    const [contextOf, givenOffset] = await Promise.all([
      preview.readContext(),
      preview.offsetFor(scheduleId, schedule.timing),
    ]);
    const time = now();
    const dueAt = isOn({ schedule, pausedWhy: null })
      ? slotAfter(schedule.timing, time, contextOf({ givenOffset }))
      : null;
    const wrote = await rows.write(scheduleId, schedule, time, dueAt, position, givenOffset, text, version);
    if (wrote === 'changed-elsewhere') return CHANGED_ELSEWHERE;
    if (wrote !== 'written') return wrote === 'named' ? nameTaken(schedule) : noRoom(limits);
    if (text) await questions.withdraw(scheduleId);
    changed(schedule.agentId);
    clock.wake();
    const scheduled = await oneShown(await rows.get(scheduleId));
    if (!scheduled) throw new Error('The row that was written does not exist.');
    return { ok: true, scheduled };
  }

  async function added(scheduleId: ScheduleId, asked: Schedule, given?: ScriptText): Promise<Written> {
    const { schedule, text, problem } = await withText(asked, null, given);
    const refused = await refuse(schedule, null, problem);
    return refused ?? (await written(scheduleId, schedule, (await rows.count(schedule.agentId)).all, text));
  }
  async function changedTo(row: Row, wanted: Schedule, given?: ScriptText, version?: number): Promise<Written> {
    const { scheduleId } = row;
    if (version !== undefined && version !== row.version) return CHANGED_ELSEWHERE;
    if (row.schedule.kind !== wanted.kind)
      return { ok: false, field: null, reason: `It is a ${row.schedule.kind}, and its kind cannot change.` };
    const { schedule, text, problem } = await withText(wanted, row, given);
    const refused = await refuse(schedule, row, problem);
    if (refused) return refused;
    // A waiting occurrence of the old reminder must not arrive beside the new one.
    if (schedule.kind === 'reminder') await callOff(scheduleId);
    return await written(scheduleId, schedule, null, text, version);
  }
  /** Cancels its waiting occurrences and withdraws their messages. */
  async function callOff(scheduleId: ScheduleId): Promise<void> {
    const waiting = await rows.waitingOf([scheduleId]);
    await rows.cancelDue(scheduleId, now());
    for (const { dueAt, isNotice } of waiting) if (!isNotice) await inbox.withdraw(messageIdOf({ scheduleId, dueAt }));
  }

  return { withText, written, added, changedTo, callOff };
}
