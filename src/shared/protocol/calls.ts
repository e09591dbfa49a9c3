/**
 * Tool calls, as the relay stores them: what an agent asked for, who allowed it, and the outcome.
 */
import { z } from 'zod';
import { type FormField, TEXT_FORMATS } from '../domain/question-form.ts';
import { isExactHost } from '../domain/network.ts';
import { common } from './documents.ts';
import { networkSchema } from './grants.ts';
import { SCHEDULE_BOUNDS } from './schedules.ts';

// Questions that an MCP server asks the person during a tool call, as the page shows them.

const preset = <Value extends z.ZodType>(value: Value) =>
  value.nullable().describe('what is sent where the person leaves the field alone; null: nothing is');
const bound = z.number().nullable().describe('inclusive; null: there is none');
const anyField = {
  name: z.string(),
  title: z.string(),
  description: z.string(),
  isRequired: z.boolean(),
};
const options = z.array(z.object({ value: z.string(), title: z.string() })).readonly();

const formFieldSchema = z.discriminatedUnion('kind', [
  z.object({
    ...anyField,
    kind: z.literal('text'),
    format: z.enum(TEXT_FORMATS).nullable(),
    least: bound,
    most: bound,
    preset: preset(z.string()),
  }),
  z.object({
    ...anyField,
    kind: z.literal('number'),
    isWhole: z.boolean(),
    least: bound,
    most: bound,
    preset: preset(z.number()),
  }),
  z.object({ ...anyField, kind: z.literal('yes-no'), preset: preset(z.boolean()) }),
  z.object({ ...anyField, kind: z.literal('one'), options, preset: preset(z.string()) }),
  z.object({
    ...anyField,
    kind: z.literal('many'),
    options,
    least: bound,
    most: bound,
    preset: preset(z.array(z.string()).readonly()),
  }),
]) satisfies z.ZodType<FormField>;

export const serverQuestionSchema = z.object({
  server: z.string().describe('as the person has named it'),
  message: z.string().describe('the server’s own words: nobody has checked them'),
  fields: z.array(formFieldSchema).readonly().describe('of a question that is over: none'),
  others: z
    .array(common.agentId)
    .readonly()
    .describe('other agents of whom the server has calls under way: it does not say for which it asks'),
  until: common.time.describe('when it is withdrawn where nobody has answered'),
});
export type ServerQuestion = z.infer<typeof serverQuestionSchema>;

const formContentSchema = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.array(z.string()).readonly()]).nullable(),
);

export const CALL_STATES = ['asked', 'running', 'done', 'declined', 'withdrawn', 'stopped', 'unknown'] as const;
export type CallState = (typeof CALL_STATES)[number];

/** Why a call was allowed to run. */
export const ALLOWED_BY = ['grant', 'command', 'once', 'always-tool', 'always-command', 'program'] as const;
export type AllowedBy = (typeof ALLOWED_BY)[number];

/** A file or folder that a call refers to, as it is in its agent's folder. */
export const pinnedFileSchema = z.object({
  path: z.string(),
  leadsTo: z
    .string()
    .nullable()
    .describe('it is a link, or lies behind one: where that leads; null: no link is on its way'),
  kind: z.enum(['none', 'file', 'folder', 'link', 'other']).describe('none: nothing lies there'),
  bytes: z.number().int().nonnegative().describe('of a file, or of all files below a folder'),
  entries: z.number().int().nonnegative().describe('files and folders below a folder; else 0'),
  mark: z.string().describe('another one once something else lies there'),
  inTurn: z.boolean().describe('the call does not name it: files that it names do, or programs read it by themselves'),
  text: z.string().nullable().describe('what it says; null: it is no text, or longer than is shown'),
});
export type PinnedFile = z.infer<typeof pinnedFileSchema>;

/** The content that the person approves, besides the call's input. */
const callContentSchema = z.object({
  pin: z.string().describe('names all of it: sent back with the answer, as `seen`; empty: nothing lies there'),
  files: z.array(pinnedFileSchema),
  rest: z.number().int().nonnegative().describe('further files that are compared too, and not listed'),
  isWhole: z.boolean().describe('false: there is more than can be compared, and it is not let for always'),
  before: z
    .array(pinnedFileSchema)
    .nullable()
    .describe('what lay there when it was asked, or let for always, where that is not what lies there now'),
});
export type CallContent = z.infer<typeof callContentSchema>;

export const toolCallSchema = z.object({
  callId: z.string(),
  agentId: common.agentId,
  tool: z.string(),
  input: z.string().describe('as JSON; of a call that is over the first part'),
  state: z
    .enum(CALL_STATES)
    .describe(
      'asked: it waits for the person; running: it was let, and has not ended; declined: the person said no; withdrawn: nobody needs an answer any more; stopped: the program that did it was stopped, or ended, before it told how it went; unknown: the relay died while it ran, and it is not known whether it did',
    ),
  where: z
    .enum(['session', 'run', 'client', 'relay'])
    .describe(
      'in a session, at work alone, or from a client that joined; relay: the relay asks by itself, since the file of a script has changed',
    ),
  askedAt: common.time,
  answeredAt: common.time.nullable(),
  endedAt: common.time.nullable(),
  allowedBy: z
    .enum(ALLOWED_BY)
    .nullable()
    .describe(
      'grant: what is set for the tool; command: this exact command was let before; program: nobody was asked, the program that is its mind did it by itself; else the answer; null: nobody',
    ),
  words: z.string().nullable().describe('of the person with a no, or why it was withdrawn'),
  outcome: z.string().nullable().describe('the first part of what it answered'),
  isError: z.boolean(),
  bytes: z.number().int().nonnegative().nullable().describe('of all that it answered'),
  later: z.boolean().describe('the person has said “not now”'),
  content: callContentSchema
    .optional()
    .describe('of a call that waits, and is about files of its agent’s folder: what a yes is to'),
  question: serverQuestionSchema
    .optional()
    .describe('the server of `tool` asks the person this, while it is called: it is answered with `send` or `no`'),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

const ANSWERS = ['once', 'always-tool', 'always-command', 'no', 'later'] as const;
export type Answer = (typeof ANSWERS)[number];

export const answerSchema = z.strictObject({
  answer: z
    .enum([...ANSWERS, 'send'])
    .describe(
      'once: this call; always-tool: this and every later one of this tool by this agent; always-command: this and every later one of exactly this command; send: `content`, to a server that asks; no; later: it goes on waiting',
    ),
  content: formContentSchema
    .default({})
    .describe(
      'with `send`: by the names of fields. One that is left out has its preset, null sends nothing. Nothing of it is kept',
    ),
  words: z.string().max(4_000).default('').describe('with a no: what the agent is told'),
  own_hosts: z
    .array(z.string().refine(isExactHost, 'a host by its name: localhost:8080 or 192.168.1.20'))
    .max(SCHEDULE_BOUNDS.hosts)
    .default([])
    .describe('with a yes to `wake_script`: hosts of the relay’s own machine and networks that it may reach besides'),
  seen: z
    .string()
    .max(200)
    .optional()
    .describe(
      'with a yes: the `pin` of the content that was shown, empty where none was; refused where something else lies there by now',
    ),
});

/** How far an agent's commands currently reach, as the person has set it. */
export const commandReachSchema = z.object({
  network: networkSchema,
  sandboxed: z.boolean().describe('false: they run as whoever started the relay, in no sandbox'),
});
export type CommandReach = z.infer<typeof commandReachSchema>;

/** Whether this relay can run commands. */
export const sandboxSchema = z.object({
  available: z.boolean(),
  why: z.string().nullable().describe('why not, and what to install: sentences for people; null: they can'),
  watched: z
    .string()
    .optional()
    .describe('they can, and no control group bounds their memory here: what that means, sentences for people'),
  insist: z
    .boolean()
    .optional()
    .describe('they cannot, and the person may have those of one agent run without a sandbox'),
});
export type SandboxStanding = z.infer<typeof sandboxSchema>;
