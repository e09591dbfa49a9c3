import type { z } from 'zod';
import { groupOf, LEAD_ID } from '../../domain/seat.ts';
import { parseStamp, RELAY_NODE } from '../../domain/stamp.ts';
import { choiceOf } from '../../domain/choices.ts';
import { reachesFurther, readMarkOf } from '../../domain/read-marks.ts';
import { isSettingValue, type SettingKey } from '../../domain/settings.ts';
import type { ProjectId, ScheduleId, TaskId, ThreadId } from '../../domain/ids.ts';
import { createCrc32 } from '../../domain/crc32.ts';
import { isRecord } from '../../domain/platform/json.ts';
import { cameFrom, type Forget, type Forgotten, isAmong, namesSource, type Origin } from '../../domain/forgetting.ts';
import { lineOrigins, type LinedFile, linesOf } from '../../domain/memory-lines.ts';
import type { AgentId } from '../../domain/ids.ts';
import { idOf } from '../limits.ts';
import { type AnyDoc, defineKind, type DocumentKind, type DocumentStore, isNewer } from './kind.ts';
import type * as Fields from './fields.ts';

/** A change of an agent since its birth. */
const agentChange = defineKind({
  type: 'agent-change',
  version: 1,
  name: 'Agents and their souls',
  schema: ({ z, base, common: { agentId, position } }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('agent-change'),
        agentId,
        change: z.discriminatedUnion('kind', [
          z.looseObject({ kind: z.literal('rename'), name: z.string() }),
          z.looseObject({ kind: z.literal('seat'), position: position.nullable() }),
          z.looseObject({ kind: z.literal('retire') }),
          z.looseObject({ kind: z.literal('return') }),
          z.looseObject({ kind: z.literal('soul'), individuationArtifact: z.string() }),
        ]),
        device: z
          .string()
          .optional()
          .describe('the device of the household that wrote it; left out: the household had only one'),
      })
      .describe('A change of an agent’s life. The newest of each kind applies; retiring and returning are one kind.'),

  view: {
    store: 'changes',
    // Retiring and returning are one kind of change.
    about: ({ agentId, change }) => `${change.kind === 'return' ? 'retire' : change.kind}:${agentId}`,
    holds: 'newest',
    // Agents also name themselves and write their own souls. The lead's name is a setting.
    changedBy: ({ agentId, change, at }) =>
      change.kind === 'soul' || agentId === LEAD_ID || parseStamp(at)?.node === RELAY_NODE ? 'else' : 'person',
  },
  stream: 'people',
  whose: 'agent',
  forgotten: 'with-agent',
});

/** The birth of an agent. */
const agentIdentity = defineKind({
  type: 'agent-identity',
  version: 1,
  name: 'Agents and their souls',
  schema: ({ z, base, id, common: { agentId, time, position } }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('agent-identity'),
        agentId,
        name: z.string().describe('the name that the agent chose'),
        color: z.string().describe('its seat’s colour, `#rrggbb`'),
        colorName: z.string(),
        position,
        individuationArtifact: z
          .string()
          .describe('the soul: the full text of the agent’s first words, in which it chose its name'),
        bornAt: time,
        bornSessionId: id.nullable().describe('null: the agent was born outside a session, as the lead is'),
      })
      .describe('An agent was born. Written once, never changed.'),

  view: { store: 'identities' },
  stream: 'people',
  whose: 'agent',
  forgotten: 'with-agent',
});

// Documents of the relay's records. Each record type has its own kind, and all kinds have the same
// form. See ../records.ts.

interface RecordKind<Type extends string, Value extends z.ZodType> {
  readonly type: Type;
  readonly name: string;
  /** A loose schema: the relay validates what it receives back. */
  readonly value: (fields: typeof Fields) => Value;
  readonly describe: string;
  readonly stream: 'people' | 'talk';
  /**
   * Set for records that are written once: returns the thing that a record belongs to, by which it
   * is found. Left out: the newest version of each record wins.
   */
  readonly within?: (value: z.output<Value>) => string;
  readonly title: (value: z.output<Value>) => string;
  /** Whether the document is in the log of the person's changes. Left out: no. */
  readonly isPersons?: (value: z.output<Value>) => boolean;
  /** `agent`: the folder of one agent has its records too. Left out: only a copy of all has. */
  readonly whose?: 'agent' | 'household';
  /** Left out: with the agent. */
  readonly forgotten?: Forgotten;
  /** The name that people see when they are asked whether to import it from a file. */
  readonly consent: string;
}

const defineRecord = <const Type extends string, Value extends z.ZodType>({
  type,
  name,
  value,
  describe,
  stream,
  within,
  isPersons,
  title,
  whose = 'household',
  forgotten = 'with-agent',
  consent,
}: RecordKind<Type, Value>) =>
  defineKind({
    type,
    version: 1,
    name,
    schema: (fields) =>
      fields.z
        .looseObject({
          ...fields.base,
          type: fields.z.literal(type),
          recordId: fields.id.describe('id of the record; with `at` it identifies the version'),
          agentId: fields.agentIdSchema.optional().describe('the agent, if the record belongs to one'),
          value: value(fields),
        })
        .describe(describe),
    view: within
      ? { store: 'records', about: (doc) => within(doc.value as z.output<Value>) }
      : {
          store: 'records',
          about: ({ recordId }) => recordId,
          holds: 'newest',
          changedBy: (doc) => (isPersons?.(doc.value as z.output<Value>) ? 'person' : null),
        },
    stream,
    whose,
    forgotten,
    consent,
    isRecord: true,
    title: (doc) => title(doc.value as z.output<Value>),
  });

/** An MCP server that the person has connected, without its secrets. */
const attachedServer = defineRecord({
  type: 'attached-server',
  name: 'MCP servers',
  describe:
    'An MCP server that the person has connected, and what of it agents may use, without its secrets, as the relay’s record has it.',
  value: ({ z }) => z.looseObject({ name: z.string(), removed: z.boolean() }),
  stream: 'people',
  isPersons: () => true,
  title: ({ name, removed }) => `The MCP server “${name}”${removed ? ', taken away' : ''}`,
  consent: 'MCP servers',
});

/** A piece of a file that the person attached to a message. */
const attachment = defineKind({
  type: 'attachment',
  version: 1,
  name: 'Pictures and files in messages',
  schema: ({ z, base, id, common: { agentId } }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('attachment'),
        agentId: agentId.describe('the agent in whose conversation the file was sent'),
        attachmentId: id.describe('the file’s id; messages refer to it'),
        sha256: z.string().describe('of the whole file, in hexadecimal; a conversation stores the same file once'),
        bytes: z.number().int().min(0).describe('of the whole file'),
        index: z.number().int().min(0).describe('index of the piece, from 0'),
        data: z.string().describe('the piece’s bytes, in base64'),
      })
      .describe('A piece of a file that the person sent with a message, at most 98,304 bytes.'),
  // The first piece represents the file, so that a file is found by its content.
  view: { store: 'records', about: ({ agentId, sha256, index }) => (index === 0 ? `${agentId} ${sha256}` : null) },
  stream: 'attachments',
  whose: 'agent',
  forgotten: 'with-conversation',
  title: () => 'A piece of a picture or file',
});

/** The withdrawal of a request to forget. */
const forgetUndo = defineKind({
  type: 'forget-undo',
  version: 1,
  name: 'What was forgotten',
  schema: ({ z, base, id, common: { time } }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('forget-undo'),
        forgetId: id.describe('`_id` of the `forget`; applies if it was written before that document’s `finalAt`'),
        time: time.optional().describe('when it was written; left out: at `at`'),
      })
      .describe('The person withdrew a request to forget.'),

  view: { store: 'forgets' },
  stream: 'people',
  whose: 'household',
  forgotten: 'never',
});

/** A request of the person to forget something. */
const forget = defineKind({
  type: 'forget',
  version: 1,
  name: 'What was forgotten',
  schema: ({ z, base, common: { agentId, time } }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('forget'),
        target: z
          .discriminatedUnion('kind', [
            z.looseObject({ kind: z.literal('agent'), agentId }),
            z.looseObject({ kind: z.literal('conversation'), agentId }),
            z.looseObject({ kind: z.literal('span'), agentId: agentId.nullable(), from: time, to: time }),
            z.looseObject({
              kind: z.literal('items'),
              what: z.enum(['words', 'tool']),
              agentId: z.literal(null),
              sources: z.array(z.string()),
            }),
          ])
          .describe(
            'agent: everything about the agent, whenever written; conversation: what was said with the agent before this stamp, and what came from it; span: what was said from one time until another, with one agent or (null) with all, and what came from it; items: documents, lines of memories and rows of the relay, by hashes of their ids',
          ),
        askedAt: time,
        finalAt: time.describe(
          'until then the content is hidden and can be restored; after that every device that receives this document removes it',
        ),
      })
      .describe('The person asked to forget something. Only ids remain of it.'),

  view: { store: 'forgets' },
  stream: 'people',
  whose: 'household',
  forgotten: 'never',
});

/** The limits and budget of an agent or of the household. */
const limits = defineRecord({
  type: 'limits',
  name: 'Limits, prices and budgets',
  describe: 'What an agent, or the household, may do and cost, as the relay’s record has it.',
  value: ({ z, agentIdSchema }) =>
    z.looseObject({ agentId: agentIdSchema.nullable(), config: z.record(z.string(), z.unknown()) }),
  stream: 'people',
  isPersons: () => true,
  title: ({ agentId }) => (agentId === null ? 'The household’s limits and budget' : 'Limits and budget of one agent'),
  consent: 'Limits, prices and budgets',
});

/** A waiting message was delivered to its agent. */
const messageRead = defineKind({
  type: 'message-read',
  version: 1,
  name: 'Messages',
  schema: ({ z, base, common: { agentId, sessionId, runId, messageId, time } }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('message-read'),
        messageId,
        agentId,
        sessionId: sessionId.nullable().describe('null: it was read in a run outside a session'),
        runId: runId.optional(),
        time,
      })
      .describe('An agent has read a message that waited in its inbox.'),

  view: { store: 'reads' },
  stream: 'talk',
  whose: 'agent',
  forgotten: 'with-conversation',
});

// A message that the person withdrew before its agent read it.

/** For a queued message. One id, so that all devices write the same document. */
export const queuedWithdrawnId = (clientId: string): string => `message-withdrawn:${clientId}:queued`;

const messageWithdrawn = defineKind({
  type: 'message-withdrawn',
  version: 1,
  name: 'Messages',
  schema: ({ z, base, id, stamp, common: { agentId, time } }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('message-withdrawn'),
        agentId: agentId,
        clientId: id,
        of: stamp.optional().describe('the stamp of the message; left out: no relay had accepted it'),
        time,
      })
      .describe('A waiting message was withdrawn before it was read.'),
  view: { store: 'records' },
  stream: 'talk',
  whose: 'agent',
  forgotten: 'with-conversation',
});

/** A message: what was said, by whom, and in whose conversation. */
const message = defineKind({
  type: 'message',
  version: 1,
  name: 'Messages',
  schema: ({
    z,
    base,
    authorSchema,
    blockSchema,
    usageSchema,
    attachmentsSchema,
    messageStatusSchema,
    compactionSchema,
    stamp,
    common: { agentId, sessionId, runId, messageId, time },
  }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('message'),
        messageId,
        sessionId: sessionId.nullable().describe('null: it was said in a run outside a session'),
        runId: runId.optional().describe('the run in which it was said or read; left out: none'),
        agentId: agentId.describe('the agent whose conversation it is: "lead" or an agent id'),
        author: authorSchema.describe('the author: "human", "relay", "lead" or an agent id'),
        role: z.enum(['user', 'assistant']).describe('the text that the model is given'),
        blocks: z.array(blockSchema),
        attachments: attachmentsSchema.optional().describe('pictures and files that the person sent with the message'),
        status: messageStatusSchema,
        error: z.string().nullable().describe('if it failed: the reason, as a sentence for people'),
        usage: usageSchema.nullable().describe('null: the model reported none, or no model was asked'),
        time,
        clientId: z.string().nullable().describe('the page’s own id of a message from the person'),
        replaces: z
          .string()
          .nullable()
          .describe('edit-and-resend, or retry: hides the message with this id and all later ones of the conversation'),
        unasked: z
          .literal(true)
          .optional()
          .describe(
            'the message answers nothing that the person said: it is a greeting, or an answer to other agents. The page does not mark it as unread, unless it failed',
          ),
        compaction: compactionSchema.optional(),
        completedAt: stamp
          .optional()
          .describe('when the answer was complete; `at` is when it began. Nobody has read all of it before this time'),
      })
      .describe(
        'A whole message of the person or an agent. `waiting: true` is set while it waits in the inbox of a sleeping agent.',
      ),

  view: { store: 'messages' },
  stream: 'talk',
  whose: 'agent',
  forgotten: 'with-conversation',
});

/** The table of prices. */
const prices = defineRecord({
  type: 'prices',
  name: 'Limits, prices and budgets',
  describe: 'The table of prices that the person has set, as the relay’s record has it; an empty one: Roost’s own.',
  value: ({ z }) => z.looseObject({ prices: z.array(z.looseObject({ model: z.string() })) }),
  stream: 'people',
  isPersons: () => true,
  title: ({ prices: rows }) => (rows.length === 0 ? 'Roost’s own prices' : 'The table of prices'),
  consent: 'Limits, prices and budgets',
});

/** A message that a person wrote while no session could take it. */
const queuedMessage = defineKind({
  type: 'queued-message',
  version: 1,
  name: 'Messages',
  schema: ({ z, base, id, attachmentsSchema, common: { agentId, time } }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('queued-message'),
        clientId: id.describe('the `clientId` with which it will be posted, so that posting it twice has no effect'),
        agentId,
        text: z.string(),
        attachments: attachmentsSchema.optional(),
        time,
      })
      .describe('A message that a person wrote while no relay could accept it. A page posts it when a session starts.'),

  view: { store: 'queued' },
  stream: 'talk',
  whose: 'agent',
  forgotten: 'with-conversation',
});

/** A run of an agent outside any session: its start with its cause, and its end. */
const run = defineKind({
  type: 'run',
  version: 1,
  name: 'Runs',
  schema: ({ z, base, runCauseSchema, runEnd, usageSchema, common: { agentId, runId, time } }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('run'),
        runId,
        agentId,
        phase: z.discriminatedUnion('kind', [
          z.looseObject({ kind: z.literal('start'), startedAt: time, cause: runCauseSchema }),
          z.looseObject({ kind: z.literal('end'), endedAt: time, ...runEnd, usage: usageSchema.nullable() }),
        ]),
      })
      .describe('A run outside a session began, or ended, and how.'),

  view: { store: 'records' },
  stream: 'talk',
  whose: 'agent',
  forgotten: 'with-conversation',
});

/** A routine, a reminder or a script of an agent. */
const schedule = defineRecord({
  type: 'schedule',
  name: 'Routines, reminders and scripts',
  describe: 'A routine, a reminder or a script of an agent, as the relay’s record has it.',
  value: ({ z, agentIdSchema }) =>
    z.looseObject({
      removed: z.boolean(),
      schedule: z.looseObject({ kind: z.string(), name: z.string(), agentId: agentIdSchema }),
    }),
  stream: 'people',
  // Agents set their own reminders.
  isPersons: ({ schedule: { kind } }) => kind !== 'reminder',
  title: ({ schedule: { kind, name } }) => `The ${kind} “${name}”`,
  consent: 'Routines, reminders and scripts',
});

/** A project: its columns and the agents that work on it. */
const project = defineRecord({
  type: 'project',
  name: 'Projects',
  describe: 'A project, without its tasks, as the relay’s record has it.',
  value: ({ z }) => z.looseObject({ name: z.string(), removed: z.boolean() }),
  stream: 'people',
  isPersons: () => true,
  title: ({ name }) => `The project “${name}”`,
  consent: 'Projects',
});

/** A task of a project, with its history. */
const task = defineRecord({
  type: 'task',
  name: 'Projects',
  describe: 'A task of a project, as the relay’s record has it.',
  value: ({ z, id }) => z.looseObject({ projectId: idOf<ProjectId>(id), title: z.string(), removed: z.boolean() }),
  stream: 'talk',
  title: ({ title }) => `The task “${title}”`,
  consent: 'Projects',
});

/** An attempt at a task, with its outcome. */
const attempt = defineRecord({
  type: 'attempt',
  name: 'Projects',
  describe: 'An attempt at a task, as the relay’s record has it.',
  value: ({ z, id }) => z.looseObject({ projectId: idOf<ProjectId>(id), taskId: idOf<TaskId>(id), number: z.number() }),
  stream: 'talk',
  title: ({ number }) => `Attempt ${number} at a task`,
  consent: 'Projects',
});

/** A routine that works on a project. */
const routineMapping = defineRecord({
  type: 'routine-mapping',
  name: 'Projects',
  describe: 'A routine that works on a project, as the relay’s record has it.',
  value: ({ z, id, agentIdSchema }) =>
    z.looseObject({
      projectId: idOf<ProjectId>(id),
      routineId: idOf<ScheduleId>(id),
      agentId: agentIdSchema,
      removed: z.boolean(),
    }),
  stream: 'people',
  isPersons: () => true,
  title: () => 'A routine on a project',
  consent: 'Projects',
});

/** A file of a memory. Every version is a document, so earlier texts can be read again. */
const memory = defineRecord({
  type: 'memory',
  name: 'Memories',
  describe: 'A file that an agent keeps, or the team, as the relay’s record has it.',
  value: ({ z, agentIdSchema }) =>
    z.looseObject({ agentId: agentIdSchema.nullable(), path: z.string(), text: z.string(), removed: z.boolean() }),
  stream: 'people',
  title: ({ path }) => `The memory ${path}`,
  whose: 'agent',
  consent: 'Memories',
});

/** An exam after the person has decided. */
const exam = defineRecord({
  type: 'exam',
  name: 'Certificates of continuity',
  describe: 'Certificates of continuity',
  value: ({ z }) => z.looseObject({}),
  stream: 'talk',
  title: () => 'Certificates of continuity',
  whose: 'agent',
  forgotten: 'with-before',
  consent: 'Certificates of continuity',
});

/** The start of a session, or its end and the reason. */
const session = defineKind({
  type: 'session',
  version: 1,
  name: 'Sessions',
  schema: ({ z, base, endReasonSchema, common: { sessionId, time } }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('session'),
        sessionId,
        phase: z.discriminatedUnion('kind', [
          z.looseObject({
            kind: z.literal('start'),
            startedAt: time,
            mind: z.string(),
            model: z.string(),
            imported: z
              .looseObject({
                from: z.string().describe('the other product'),
                title: z.string(),
                branchOf: sessionId.optional().describe('the session from which this one branches off'),
              })
              .optional()
              .describe('a conversation of another product, whose words and times are as they were'),
          }),
          z.looseObject({ kind: z.literal('end'), endedAt: time, reason: endReasonSchema }),
        ]),
      })
      .describe(
        'A session began, or ended and why: the person ended it, it was silent for too long, the relay stopped, or the relay found it open after a crash.',
      ),

  view: { store: 'sessions' },
  stream: 'talk',
  whose: 'everybody',
  forgotten: 'with-agent',
});

// A setting of the person, or a mark of how far they have read.

const READ_TO: readonly string[] = ['runsReadTo', 'runsReadFrom'] satisfies readonly SettingKey[];

const setting = defineKind({
  type: 'setting',
  version: 1,
  name: 'Settings',
  schema: ({ z, base }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('setting'),
        key: z
          .string()
          .describe(
            'the setting’s name: see src/shared/domain/settings.ts; src/shared/domain/read-marks.ts for read marks, src/shared/domain/choices.ts for choices for one agent, src/shared/domain/seat.ts for groups',
          ),
        value: z.unknown().describe('a value that the setting cannot have is ignored'),
        device: z
          .string()
          .optional()
          .describe('the device of the household that wrote it; left out: the household had only one'),
      })
      .describe(
        'A setting of the person, or a mark of how far they have read. The newest valid value of each key applies. Of marks (`read:<agent id>`, `read-thread:<thread id>`) the furthest applies.',
      ),

  view: {
    store: 'settings',
    // A setting that this app does not know, or an invalid value, never wins.
    about: (doc) =>
      isSettingValue(doc.key, doc.value) || readMarkOf(doc) || choiceOf(doc) || groupOf(doc) ? doc.key : null,
    holds: 'newest',
    wins(doc, held) {
      const [mark, before] = [readMarkOf(doc), readMarkOf(held)];
      return (mark && before && reachesFurther(mark, before)) ?? isNewer(doc, held);
    },
    // How far the person has read is not a change of theirs.
    changedBy: (doc) =>
      (isSettingValue(doc.key, doc.value) && !READ_TO.includes(doc.key)) || choiceOf(doc) || groupOf(doc)
        ? 'person'
        : null,
  },
  stream: 'people',
  whose: 'household',
  forgotten: 'with-agent',
});

/** A message in a thread. */
const threadMessage = defineRecord({
  type: 'thread-message',
  name: 'Threads',
  describe: 'Something said in a thread, as the relay’s record has it. Said once, and never changed.',
  value: ({ z, id }) => z.looseObject({ threadId: idOf<ThreadId>(id), sequence: z.number(), time: z.number() }),
  stream: 'talk',
  within: ({ threadId }) => threadId,
  title: () => 'A message in a thread',
  consent: 'Threads',
});

/** A thread: its title, its members, and how it ended. */
const thread = defineRecord({
  type: 'thread',
  name: 'Threads',
  describe: 'A thread, without what was said in it, as the relay’s record has it.',
  value: ({ z }) => z.looseObject({ title: z.string() }),
  stream: 'people',
  title: ({ title }) => `The thread “${title}”`,
  consent: 'Threads',
});

// The kinds of documents that this app knows. This module does not import zod, because the page's
// first paint must not load it.

export const SCHEMA_VERSION = 1;

/** In the order of the reference. A new kind needs its definition and an entry here. */
const KINDS = [
  agentIdentity,
  agentChange,
  session,
  message,
  queuedMessage,
  attachment,
  messageRead,
  messageWithdrawn,
  run,
  setting,
  forget,
  forgetUndo,
  limits,
  prices,
  thread,
  threadMessage,
  schedule,
  attachedServer,
  project,
  task,
  attempt,
  routineMapping,
  memory,
  exam,
];

type Kind = (typeof KINDS)[number];
type DocOf<K> = K extends { readonly schema: (fields: never) => infer Schema } ? z.output<Schema> : never;
export type KnownType = Kind['type'];
export type KnownDoc = DocOf<Kind>;
/** Any kind. */
export type AnyKind = DocumentKind<string, z.ZodType<AnyDoc>>;

const byType = new Map<string, AnyKind>(KINDS.map((kind) => [kind.type, kind]));

/** All known kinds. */
export const documentKinds = (): readonly AnyKind[] => [...byType.values()];
export const kindOf = (type: string): AnyKind | undefined => byType.get(type);

/**
 * Adds a kind, as a newer Roost would know it. Call it before anything is opened. Returns the
 * function that removes it.
 */
export function addKind(kind: AnyKind): () => void {
  byType.set(kind.type, kind);
  return () => byType.delete(kind.type);
}

/**
 * Whether this app can read the document. Documents are parsed where they enter, which upgrades
 * older versions.
 */
export function isKnown(doc: AnyDoc | KnownDoc): doc is KnownDoc {
  return doc.schema <= (byType.get(doc.type)?.version ?? 0);
}

/** The kind of a document, if this app can read it. */
const kindOfKnown = (doc: AnyDoc): AnyKind | undefined => (isKnown(doc) ? byType.get(doc.type) : undefined);

/** Upgrades a document of an older version. Returns any other document unchanged. */
export function asOfNow(doc: AnyDoc): AnyDoc {
  const kind = byType.get(doc.type);
  let now = doc;
  while (kind && now.schema < kind.version) {
    const step = kind.upcast?.[now.schema];
    now = { ...(step ? step(now) : now), schema: now.schema + 1 };
  }
  return now;
}

/** The store of the views that holds a document. Unknown documents are in `records`. */
export const storeOf = (doc: AnyDoc): DocumentStore => kindOfKnown(doc)?.view.store ?? 'records';

/** The thing that a document is about, unique across kinds. Null: none that this app knows. */
export function aboutOf(doc: AnyDoc): string | null {
  const about = kindOfKnown(doc)?.view.about?.(doc) ?? null;
  return about === null ? null : `${doc.type} ${about}`;
}

/**
 * Identifies the slot in which one document wins. Null: every document of this kind counts, or none
 * does.
 */
export const slotOf = (doc: AnyDoc): string | null => (kindOfKnown(doc)?.view.holds === 'newest' ? aboutOf(doc) : null);

/** Whether `doc` wins over `held`, a document about the same thing. */
export const wins = (doc: AnyDoc, held: AnyDoc): boolean =>
  kindOfKnown(doc)?.view.wins?.(doc, held) ?? isNewer(doc, held);

/** Whose change a document is in the log of the person's changes. Null: it is not in the log. */
export const changedBy = (doc: AnyDoc): 'person' | 'else' | null => kindOfKnown(doc)?.view.changedBy?.(doc) ?? null;

/** Attempts that were stored by an older Roost name their agent in their value alone. */
function agentOf(doc: { readonly type: string; readonly [field: string]: unknown }): unknown {
  const { value } = doc;
  return doc['agentId'] ?? (doc.type === attempt.type && isRecord(value) ? value['agentId'] : undefined);
}

type MemoryFile = LinedFile<{ readonly by: Origin['by'] }> & { readonly agentId: AgentId | null };

/** Where the lines of a version of a memory came from. Other documents have none. */
function originsOf({
  type,
  value,
  recordId,
}: {
  readonly type: string;
  readonly value?: unknown;
  readonly recordId?: unknown;
}): readonly Origin[] {
  if (type !== memory.type || !isRecord(value) || typeof value['text'] !== 'string' || !isRecord(value['source']))
    return [];
  const file = value as unknown as MemoryFile;
  try {
    return linesOf(file).flatMap((line) => lineOrigins(line, file.agentId, String(recordId)));
  } catch {
    // The list of its lines fits no schema. What is left is the last write.
    return [{ agentId: file.agentId, by: file.source.by, time: file.changedAt }];
  }
}

/**
 * Whether a request to forget covers this document. Documents of unknown kinds are deleted with the
 * agent that they name.
 */
export const isCovered = (
  doc: { readonly type: string; readonly at: string; readonly [field: string]: unknown },
  forget: Pick<Forget, 'target' | 'at'>,
): boolean =>
  (typeof doc['_id'] === 'string' && doc['_id'] !== '' && namesSource(forget, doc['_id'])) ||
  // The name of the certificate's row at the relay.
  namesSource(forget, `exam:${String(doc['recordId'])}`) ||
  isAmong({ at: doc.at, agentId: agentOf(doc), forgotten: byType.get(doc.type)?.forgotten ?? 'with-agent' }, forget) ||
  originsOf(doc).some((origin) => cameFrom(origin, forget));

/**
 * Changes with every new kind and version. Views that were written with another list of kinds are
 * rebuilt.
 */
export function kindsMark(): number {
  const lines = documentKinds().map(({ type, version, view }) => `${type} ${version} ${view.store}`);
  const crc = createCrc32();
  crc.update(new TextEncoder().encode(lines.sort().join('\n')));
  return crc.value();
}
