/**
 * Which text of a scheduled script runs: the last one that the person accepted, and no other,
 * whatever its file says by then.
 *
 * `sha256` in the schedule names the accepted text. The text itself is a row here. A schedule that
 * came as a record, or from before texts were kept, has no such row: the file is taken as the text
 * if it still has that hash. If the file says something else, the person is asked once about that
 * text. Saving on the page, and a yes to `wake_script`, accept what lies there.
 */
import { fileText } from '../../src/shared/domain/file-text.ts';
import type { AgentId, ScheduleId } from '../../src/shared/domain/ids.ts';
import { sentence } from '../../src/shared/domain/sentence.ts';
import type { PinnedFile } from '../../src/shared/protocol/calls.ts';
import type { ScheduleOf } from '../../src/shared/protocol/schedules.ts';
import type { Db } from '../store/index.ts';
import type { ScriptFile, Scripts, ScriptText } from './scripts.ts';
import { SCRIPT_LIMITS } from './settings.ts';

type Script = ScheduleOf<'script'>;

/** What a question about another text is to. `before`: the accepted text; null: none is known. */
export interface TextQuestion {
  readonly agentId: AgentId;
  readonly scheduleId: ScheduleId;
  readonly name: string;
  /** Path in the agent's folder, after links. */
  readonly path: string;
  readonly before: PinnedFile | null;
}

/** Asks the person about the texts of scripts. */
export interface TextQuestions {
  /**
   * One question waits for each schedule: it is to what the file says when the person looks at it.
   */
  ask(question: TextQuestion): Promise<void>;
  /** Withdraws the question about this schedule, if one waits. */
  withdraw(scheduleId: ScheduleId): Promise<void>;
}

/**
 * `text` null: nothing may run. `note`: a sentence for people about the file; null: it says what
 * runs.
 */
export interface TextToRun {
  readonly text: Uint8Array | null;
  readonly note: string | null;
}

export interface ScriptTextsDeps {
  readonly db: Db;
  /** Names the home. */
  readonly home: string;
  readonly scripts: Pick<Scripts, 'look'>;
  readonly questions: TextQuestions;
  readonly now: () => number;
}

const GONE = sentence`Its file is not there any more, or cannot be read. The text that was accepted ran.`;
const WAITS = sentence`Its file says something else by now. The text that was accepted ran; the new one waits for your yes.`;
const DECLINED = sentence`Its file says something else by now, which you declined. The text that was accepted ran.`;
const NO_TEXT = sentence`Its file holds something else by now that is no text in UTF-8, so it cannot be shown to you. The text that was accepted ran.`;
const NONE_ACCEPTED = sentence`Its file says something else than what was accepted. The question about it waits for your yes.`;
const NONE_LEFT = sentence`Its file says something else than what was accepted. Look at it, and save the script once more.`;

/** Writes the accepted text of a script, in the place of the one before. */
export async function keepText(
  trx: Db,
  home: string,
  schedule: ScheduleId,
  { text, sha256 }: ScriptText,
  now: number,
): Promise<void> {
  await trx
    .deleteFrom('script_texts')
    .where('home', '=', home)
    .where('schedule', '=', schedule)
    .where('state', '=', 'accepted')
    .where('sha256', '<>', sha256)
    .execute();
  const accepted = { state: 'accepted', text, answered_at: now };
  await trx
    .insertInto('script_texts')
    .values({ home, schedule, sha256, ...accepted })
    .onConflict((conflict) => conflict.columns(['home', 'schedule', 'sha256']).doUpdateSet(accepted))
    .execute();
}

/** Forgets all texts of these schedules. */
export async function forgetTexts(trx: Db, home: string, schedules: readonly ScheduleId[]): Promise<void> {
  if (schedules.length === 0) return;
  await trx
    .deleteFrom('script_texts')
    .where('home', '=', home)
    .where('schedule', 'in', [...schedules])
    .execute();
}

/** The accepted text as a question shows it. */
const shownBefore = (path: string, { text, sha256 }: ScriptText): PinnedFile => ({
  ...{ path, leadsTo: null, kind: 'file', bytes: text.length, entries: 0 },
  ...{ mark: `sha256:${sha256}`, inTurn: false, text: fileText(text) },
});

export type ScriptTexts = ReturnType<typeof createScriptTexts>;

export function createScriptTexts({ db, home, scripts, questions, now }: ScriptTextsDeps) {
  const rows = (scheduleId: ScheduleId, from = db) =>
    from.selectFrom('script_texts').selectAll().where('home', '=', home).where('schedule', '=', scheduleId);

  /** The accepted text under the hash in the schedule; null: it is not kept here. */
  async function accepted(scheduleId: ScheduleId, { sha256 }: Pick<Script, 'sha256'>): Promise<ScriptText | null> {
    if (sha256 === undefined) return null;
    const row = await rows(scheduleId).where('sha256', '=', sha256).where('state', '=', 'accepted').executeTakeFirst();
    return row?.text ? { text: row.text, sha256 } : null;
  }

  /**
   * What is to be said of a file that says something else. Asks about it, unless the person has
   * answered for this very text.
   */
  async function asked(
    scheduleId: ScheduleId,
    { agentId, name }: Script,
    file: ScriptFile,
    kept: ScriptText | null,
  ): Promise<'waits' | 'declined' | 'no-text'> {
    const answered = await rows(scheduleId).where('sha256', '=', file.sha256).executeTakeFirst();
    if (answered?.state === 'declined') return 'declined';
    if (fileText(file.text) === null) return 'no-text';
    const before = kept && shownBefore(file.path, kept);
    await questions.ask({ agentId, scheduleId, name, path: file.path, before });
    return 'waits';
  }

  return {
    accepted,
    withdraw: questions.withdraw,
    /** The text that runs now. A file that says something else is asked about. */
    async toRun(scheduleId: ScheduleId, script: Script): Promise<TextToRun> {
      const file = await scripts.look(script.agentId, script.script);
      let kept = await accepted(scheduleId, script);
      if (typeof file === 'string') return kept ? { text: kept.text, note: GONE } : { text: null, note: file };
      if (file.sha256 === script.sha256) {
        if (!kept) await db.transaction().execute((trx) => keepText(trx, home, scheduleId, file, now()));
        kept ??= file;
        await questions.withdraw(scheduleId);
        return { text: kept.text, note: null };
      }
      const state = await asked(scheduleId, script, file, kept);
      if (!kept) return { text: null, note: state === 'waits' ? NONE_ACCEPTED : NONE_LEFT };
      return { text: kept.text, note: { waits: WAITS, declined: DECLINED, 'no-text': NO_TEXT }[state] };
    },
    /**
     * The person said no to this text: it is not asked about again. `within`: the transaction of
     * their answer.
     */
    async decline(scheduleId: ScheduleId, sha256: string, within: Db): Promise<void> {
      await within
        .insertInto('script_texts')
        .values({ home, schedule: scheduleId, sha256, state: 'declined', text: null, answered_at: now() })
        // What is accepted stays it.
        .onConflict((conflict) => conflict.columns(['home', 'schedule', 'sha256']).doNothing())
        .execute();
      const oldest = rows(scheduleId, within)
        .clearSelect()
        .select('sha256')
        .where('state', '=', 'declined')
        .orderBy('answered_at', 'desc')
        .offset(SCRIPT_LIMITS.declined);
      await within
        .deleteFrom('script_texts')
        .where('home', '=', home)
        .where('schedule', '=', scheduleId)
        .where('state', '=', 'declined')
        .where('sha256', 'in', oldest)
        .execute();
    },
  };
}
