/**
 * Tool calls in the store. Each decision about what an agent may do only once is one SQL statement.
 */
import type { Selectable } from 'kysely';
import { z } from 'zod';
import { beginningOfText, cutMiddle } from '../../../src/shared/domain/cut-middle.ts';
import type { AgentId, RunId, SessionId } from '../../../src/shared/domain/ids.ts';
import {
  ALLOWED_BY,
  type AllowedBy,
  CALL_STATES,
  type CallContent,
  type CallState,
  type PinnedFile,
  pinnedFileSchema,
  type ServerQuestion,
  serverQuestionSchema,
  type ToolCall,
  toolCallSchema,
} from '../../../src/shared/protocol/approvals.ts';
import { mapStrings } from '../../platform/json-bounds.ts';
import { type Db, type HomeStore, parseText } from '../../store/index.ts';
import type { Tables } from '../../store/tables.ts';
import type { Pinned } from '../pins/index.ts';
import { CALL_LIMITS } from './settings.ts';
import { type SetAside, SETS_NOTHING_ASIDE } from '../../platform/set-aside.ts';

const json = (text: string) => JSON.stringify(text);
const stateSchema = z.enum(CALL_STATES);
const allowedSchema = z.enum(ALLOWED_BY).nullable();
const placeSchema = toolCallSchema.shape.where;
export const pinnedSchema = z.object({
  pin: z.string(),
  files: z.array(pinnedFileSchema),
  rest: z.number(),
  isWhole: z.boolean(),
});

export interface NewCall {
  readonly callId: string;
  readonly agentId: AgentId;
  readonly sessionId: SessionId | null;
  readonly runId: RunId | null;
  readonly place: ToolCall['where'];
  /** As in `Caller`. */
  readonly folder?: string | undefined;
  readonly tool: string;
  readonly input: unknown;
  readonly askedAt: number;
  /** An MCP server's question. */
  readonly question?: ServerQuestion;
}
/**
 * The content that a yes covers, and the earlier content, where the person agreed to that or was
 * asked about it.
 */
export interface AskedContent {
  readonly now: Pinned | null;
  readonly before: readonly PinnedFile[] | null;
}
interface Ended {
  readonly text: string;
  readonly isError: boolean;
}
/** An allowed call that is to be run or reported. */
export interface StoredCall extends ToolCall {
  readonly sessionId: SessionId | null;
  readonly runId: RunId | null;
  /** For a waiting call: the content that a yes covers. Null: no content in the folder. */
  readonly pinned: Pinned | null;
  /** False: the question is older than this column. */
  readonly isPinned: boolean;
}

/** The beginning of an input. It stays valid JSON as long as only its texts are long. */
const beginningOf = (input: unknown): string =>
  beginningOfText(
    JSON.stringify(mapStrings(input ?? null, (text) => cutMiddle(text, CALL_LIMITS.keptText))),
    CALL_LIMITS.keptInput,
  );

const optional = (text: string | null) => (text === null ? null : parseText(text));

/** No content is left, but the earlier content is still shown. */
const NOTHING_LEFT: Pinned = { pin: '', files: [], rest: 0, isWhole: true };

function contentOf(row: Selectable<Tables['tool_calls']>): Pick<StoredCall, 'pinned' | 'isPinned' | 'content'> {
  if (row.content_json === null) return { pinned: null, isPinned: false };
  const pinned = pinnedSchema.nullable().parse(JSON.parse(row.content_json));
  const before = row.before_json === null ? null : z.array(pinnedFileSchema).parse(JSON.parse(row.before_json));
  const content: CallContent | null =
    pinned || before ? { ...(pinned ?? NOTHING_LEFT), files: [...(pinned?.files ?? [])], before } : null;
  return { pinned, isPinned: true, ...(content ? { content } : {}) };
}

function questionOf({ question_json: text, state }: Selectable<Tables['tool_calls']>): Pick<StoredCall, 'question'> {
  if (text === null) return {};
  const question = serverQuestionSchema.parse(JSON.parse(text));
  const { message } = question;
  // A finished call does not need its form any more.
  return {
    question:
      state === 'asked' ? question : { ...question, message: cutMiddle(message, CALL_LIMITS.keptText), fields: [] },
  };
}

function callOf(row: Selectable<Tables['tool_calls']>): StoredCall {
  return {
    callId: row.call,
    agentId: parseText(row.agent_json),
    sessionId: row.session,
    runId: row.run,
    tool: row.tool,
    input: row.input_json,
    state: stateSchema.parse(row.state),
    where: placeSchema.parse(row.place),
    askedAt: row.asked_at,
    answeredAt: row.answered_at,
    endedAt: row.ended_at,
    allowedBy: allowedSchema.parse(row.allowed_by),
    words: optional(row.words_json),
    outcome: optional(row.outcome_json),
    isError: row.is_error,
    bytes: row.bytes,
    later: row.later,
    ...(row.folder_json === null ? {} : { folder: parseText(row.folder_json) }),
    ...contentOf(row),
    ...questionOf(row),
  };
}

const written = ({ now, before }: AskedContent) => ({
  pin: now?.pin ?? null,
  content_json: JSON.stringify(now),
  before_json: before && JSON.stringify(before),
});
/** A finished call covers no content. */
const NO_CONTENT = { pin: null, content_json: null, before_json: null };

interface CallRowsDeps extends HomeStore {
  readonly setAside?: SetAside;
}

const allRows = (db: Db, home: string) => db.selectFrom('tool_calls').selectAll().where('home', '=', home);
const changedOne = ({ numUpdatedRows }: { readonly numUpdatedRows: bigint }) => numUpdatedRows > 0n;
const endOf = ({ text, isError }: Ended, at: number) => ({
  ended_at: at,
  outcome_json: json(beginningOfText(text, CALL_LIMITS.keptOutcome)),
  is_error: isError,
  bytes: Buffer.byteLength(text),
});

/** Calls as they are read. */
function createCallReads({ db, home, setAside = SETS_NOTHING_ASIDE }: CallRowsDeps) {
  const readCalls = (rows: readonly Selectable<Tables['tool_calls']>[]): StoredCall[] =>
    setAside.read('calls', rows, ({ call }) => call, callOf);
  const all = (from = db) => allRows(from, home);

  return {
    async get(callId: string): Promise<StoredCall | null> {
      const row = await all().where('call', '=', callId).executeTakeFirst();
      return row ? callOf(row) : null;
    },
    /** Calls that wait for the person, oldest first. */
    open: async (within = db): Promise<StoredCall[]> =>
      readCalls(await all(within).where('state', '=', 'asked').orderBy('sequence').execute()),
    answeredSince: async (since: number): Promise<StoredCall[]> =>
      readCalls(
        await all()
          .where('state', 'in', ['running', 'done', 'declined', 'withdrawn', 'stopped', 'unknown'])
          .where('answered_at', '>=', since)
          .orderBy('answered_at', 'desc')
          .limit(CALL_LIMITS.answeredShown)
          .execute(),
      ),
    /** Calls of one run of this agent, newest first. */
    ofRun: async (agentId: AgentId, runId: RunId, limit: number): Promise<StoredCall[]> =>
      readCalls(
        await all()
          .where('agent_json', '=', json(agentId))
          .where('run', '=', runId)
          // A server's question is not an action of the run.
          .where('question_json', 'is', null)
          .orderBy('sequence', 'desc')
          .limit(limit)
          .execute(),
      ),
    /**
     * Calls of one run of this agent, or of its clients, about which the person was asked, or which
     * they answered, since then. Oldest first.
     */
    askedSince: async (agentId: AgentId, runId: RunId | null, since: number, limit: number): Promise<StoredCall[]> =>
      (
        await all()
          .where('agent_json', '=', json(agentId))
          .where('run', 'is not distinct from', runId)
          .$if(runId === null, (query) => query.where('place', '=', 'client'))
          .where('question_json', 'is', null)
          .where((eb) => eb.or([eb('asked_at', '>=', since), eb('answered_at', '>=', since)]))
          .where((eb) =>
            eb.or([
              eb('state', 'in', ['asked', 'declined', 'withdrawn']),
              eb('allowed_by', 'in', ['once', 'always-tool', 'always-command']),
            ]),
          )
          .orderBy('sequence', 'desc')
          .limit(limit)
          .execute()
      )
        .map(callOf)
        .toReversed(),
    async page(
      before: string | null,
      agentId: AgentId | null,
      limit: number,
    ): Promise<{ readonly calls: StoredCall[]; readonly more: boolean }> {
      const from = before === null ? null : await all().where('call', '=', before).executeTakeFirst();
      if (before !== null && !from) return { calls: [], more: false };
      let query = all()
        .orderBy('sequence', 'desc')
        .limit(limit + 1);
      if (from) query = query.where('sequence', '<', from.sequence);
      if (agentId !== null) query = query.where('agent_json', '=', json(agentId));
      const rows = await query.execute();
      // The content of waiting calls is shown only beside their answers.
      const page = rows.slice(0, limit).map((row) => ({ ...row, content_json: null, before_json: null }));
      const listed = readCalls(page);
      return { calls: listed, more: rows.length > limit };
    },
    /** Whether the approval of this moment is on disk. */
    hasBegun: async (callId: string, at: number): Promise<boolean> =>
      (await all()
        .where('call', '=', callId)
        .where('state', '=', 'running')
        .where('answered_at', '=', at)
        .executeTakeFirst()) !== undefined,
    /** Calls that ended through an answer, and whose agents were not told of it. */
    untold: async (): Promise<StoredCall[]> =>
      readCalls(
        await all()
          .where('state', 'in', ['done', 'declined', 'unknown'])
          .where('answered_at', 'is not', null)
          .where('told_at', 'is', null)
          .where('question_json', 'is', null)
          .orderBy('sequence')
          .execute(),
      ),
  };
}

/** Changes of calls. Each is one statement. */
function createCallChanges({ db, home }: CallRowsDeps) {
  const update = (within = db) => within.updateTable('tool_calls').where('home', '=', home);

  return {
    /** `ended`: the call is already over. */
    async add(
      call: NewCall,
      state: CallState,
      allowedBy: AllowedBy | null,
      ended: (Ended & { readonly at: number }) | null = null,
      content: AskedContent | null = null,
      within = db,
    ): Promise<void> {
      await within
        .insertInto('tool_calls')
        .values({
          home,
          call: call.callId,
          agent_json: json(call.agentId),
          session: call.sessionId,
          run: call.runId,
          place: call.place,
          folder_json: call.folder === undefined ? null : json(call.folder),
          tool: call.tool,
          input_json: state === 'asked' ? JSON.stringify(call.input ?? null) : beginningOf(call.input),
          state,
          allowed_by: allowedBy,
          asked_at: call.askedAt,
          ...(ended ? endOf(ended, ended.at) : {}),
          ...(content ? written(content) : {}),
          ...(call.question ? { question_json: JSON.stringify(call.question) } : {}),
        })
        .execute();
    },
    /**
     * Stores the person's yes to the content of `pin`, before anything runs. False: the call no
     * longer waits, or covers other content.
     */
    begin: async (
      { callId, pinned }: Pick<StoredCall, 'callId' | 'pinned'>,
      allowedBy: AllowedBy,
      at: number,
      within = db,
    ): Promise<boolean> =>
      changedOne(
        await update(within)
          .set({ state: 'running', allowed_by: allowedBy, answered_at: at })
          .where('call', '=', callId)
          .where('state', '=', 'asked')
          .where('pin', 'is not distinct from', pinned?.pin ?? null)
          .executeTakeFirst(),
      ),
    /**
     * The content has changed since the question. False: the call no longer waits, or another
     * process has already noticed.
     */
    askAnew: async (
      { callId, pinned }: Pick<StoredCall, 'callId' | 'pinned'>,
      content: AskedContent,
    ): Promise<boolean> =>
      changedOne(
        await update()
          .set(written(content))
          .where('call', '=', callId)
          .where('state', '=', 'asked')
          .where('pin', 'is not distinct from', pinned?.pin ?? null)
          .executeTakeFirst(),
      ),
    /** Nothing was done, because the content had changed. The call waits again. */
    async waitAgain(callId: string): Promise<void> {
      await update()
        .set({ state: 'asked', allowed_by: null, answered_at: null })
        .where('call', '=', callId)
        .where('state', '=', 'running')
        .execute();
    },
    /** False: the call no longer waits. */
    close: async (
      callId: string,
      state: 'declined' | 'withdrawn',
      words: string,
      at: number,
      within = db,
    ): Promise<boolean> =>
      changedOne(
        await update(within)
          .set({ state, answered_at: at, ended_at: at, words_json: words === '' ? null : json(words), ...NO_CONTENT })
          .where('call', '=', callId)
          .where('state', '=', 'asked')
          .executeTakeFirst(),
      ),
    /** The person answered a server's question. False: it no longer waits. */
    sent: async (callId: string, ended: Ended, at: number): Promise<boolean> =>
      changedOne(
        await update()
          .set({ state: 'done', answered_at: at, ...endOf(ended, at), ...NO_CONTENT })
          .where('call', '=', callId)
          .where('state', '=', 'asked')
          .executeTakeFirst(),
      ),
    /** A server's question was recorded as answered, but had been withdrawn first. */
    async unsent(callId: string, why: string): Promise<void> {
      await update()
        .set({ state: 'withdrawn', words_json: json(why), outcome_json: null, bytes: null })
        .where('call', '=', callId)
        .where('state', '=', 'done')
        .execute();
    },
    /**
     * Withdraws questions of MCP servers from an earlier relay, asked before `before`. Nobody waits
     * for them.
     */
    async leftBehind(before: number, why: string, at: number): Promise<void> {
      await update()
        .set({ state: 'withdrawn', answered_at: at, ended_at: at, words_json: json(why), ...NO_CONTENT })
        .where('question_json', 'is not', null)
        .where('state', '=', 'asked')
        .where('asked_at', '<=', before)
        .execute();
    },
    putOff: async (callId: string): Promise<boolean> =>
      changedOne(
        await update().set({ later: true }).where('call', '=', callId).where('state', '=', 'asked').executeTakeFirst(),
      ),
    /** Deletes a recorded call that never ran. */
    async remove(callId: string): Promise<void> {
      await db.deleteFrom('tool_calls').where('home', '=', home).where('call', '=', callId).execute();
    },
    /**
     * `within`: a transaction. `leaves`: the hash of the permission that this call grants for later
     * use.
     */
    async end(
      callId: string,
      input: unknown,
      ended: Ended,
      at: number,
      {
        within = db,
        leaves = null,
        state = 'done',
      }: { readonly within?: Db; readonly leaves?: string | null; readonly state?: 'done' | 'stopped' } = {},
    ): Promise<void> {
      await update(within)
        .set({ state, input_json: beginningOf(input), ...endOf(ended, at), leave_hash: leaves, ...NO_CONTENT })
        .where('call', '=', callId)
        .where('state', '=', 'running')
        .execute();
    },
    /** Uses up a permission granted since then. False: there is none. */
    async useLeave(leaves: string, since: number): Promise<boolean> {
      const one = allRows(db, home)
        .clearSelect()
        .select('call')
        .where('leave_hash', '=', leaves)
        .where('answered_at', '>=', since);
      return changedOne(
        await update()
          .set({ leave_hash: null })
          .where('call', 'in', one.limit(1))
          .where('leave_hash', '=', leaves)
          .executeTakeFirst(),
      );
    },
    /** Calls that ran when the relay died, begun before `before`. Their outcome is unknown. */
    async lost(before: number, at: number): Promise<void> {
      await update()
        .set({ state: 'unknown', ended_at: at, is_error: true, ...NO_CONTENT })
        .where('state', '=', 'running')
        .where('asked_at', '<=', before)
        .execute();
    },
    async told(callId: string, at: number, within = db): Promise<void> {
      await update(within).set({ told_at: at }).where('call', '=', callId).execute();
    },
    async drop(before: number): Promise<void> {
      await db
        .deleteFrom('tool_calls')
        .where('home', '=', home)
        .where('asked_at', '<', before)
        .where('state', 'not in', ['asked', 'running'])
        .execute();
    },
  };
}

export type CallRows = ReturnType<typeof createCallRows>;

export const createCallRows = (deps: CallRowsDeps) => ({ ...createCallReads(deps), ...createCallChanges(deps) });
