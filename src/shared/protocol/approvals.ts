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
  value.nullable().describe('the value that is sent if the person leaves the field alone; null: nothing is sent');
const bound = z.number().nullable().describe('inclusive; null: no limit');
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
  server: z.string().describe('the name that the person gave the server'),
  message: z.string().describe('the server’s own words, unchecked'),
  fields: z.array(formFieldSchema).readonly().describe('empty once the question is answered or withdrawn'),
  leftOut: z
    .array(z.string())
    .readonly()
    .optional()
    .describe('names of fields that cannot be shown, and that the server does not require; left out: none'),
  others: z
    .array(common.agentId)
    .readonly()
    .describe('other agents with calls to this server under way; the server does not say for which agent it asks'),
  until: common.time.describe('when the question is withdrawn if nobody has answered'),
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
    .describe('the target, if the path is a link or lies behind one; null: no link is on the path'),
  kind: z.enum(['none', 'file', 'folder', 'link', 'other']).describe('none: nothing is at this path'),
  bytes: z.number().int().nonnegative().describe('of the file, or of all files below the folder'),
  entries: z.number().int().nonnegative().describe('files and folders below the folder; 0 for anything else'),
  mark: z.string().describe('changes if the content at this path changes'),
  inTurn: z
    .boolean()
    .describe(
      'the call does not name this file; a file that the call names refers to it, or a program reads it by itself',
    ),
  text: z.string().nullable().describe('the file’s text; null: it is not text, or too long to show'),
});
export type PinnedFile = z.infer<typeof pinnedFileSchema>;

/** The content that the person approves, besides the call's input. */
const callContentSchema = z.object({
  pin: z
    .string()
    .describe('identifies the whole content; sent back with the answer as `seen`; empty: nothing is at these paths'),
  files: z.array(pinnedFileSchema),
  rest: z.number().int().nonnegative().describe('further files that are compared, and not listed'),
  isWhole: z.boolean().describe('false: there is more than can be compared, so the call cannot be allowed for always'),
  before: z
    .array(pinnedFileSchema)
    .nullable()
    .describe('the content when the call was asked for or allowed for always, if it differs from the content now'),
});
export type CallContent = z.infer<typeof callContentSchema>;

export const toolCallSchema = z.object({
  callId: z.string(),
  agentId: common.agentId,
  tool: z.string(),
  input: z.string().describe('as JSON; of a finished call only the first part'),
  state: z
    .enum(CALL_STATES)
    .describe(
      'asked: the call waits for the person; running: it was allowed and has not ended; declined: the person said no; withdrawn: nobody needs an answer any more; stopped: the ACP agent that made the call was stopped, or ended, before it reported the outcome; unknown: the relay died while the call ran, and its outcome is not known',
    ),
  where: z
    .enum(['session', 'run', 'client', 'relay'])
    .describe(
      'session: in a session; run: in a run outside a session; client: from an API client; relay: the relay asks because the file of a script has changed',
    ),
  folder: z
    .string()
    .optional()
    .describe('of an executor’s call: the part of its agent’s folder that it sees, where the paths of the call begin'),
  askedAt: common.time,
  answeredAt: common.time.nullable(),
  endedAt: common.time.nullable(),
  allowedBy: z
    .enum(ALLOWED_BY)
    .nullable()
    .describe(
      'grant: the setting for the tool; command: this exact command was allowed before; program: the ACP agent made the call without asking; otherwise the person’s answer; null: nobody allowed it',
    ),
  words: z.string().nullable().describe('the person’s words with a no, or why the call was withdrawn'),
  outcome: z.string().nullable().describe('the first part of the result'),
  isError: z.boolean(),
  bytes: z.number().int().nonnegative().nullable().describe('length of the whole result'),
  later: z.boolean().describe('the person has answered “not now”'),
  content: callContentSchema
    .optional()
    .describe('of a waiting call about files of its agent’s folder: the content that a yes allows'),
  question: serverQuestionSchema
    .optional()
    .describe('a question that the MCP server of `tool` asks the person during the call; answered with `send` or `no`'),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

const ANSWERS = ['once', 'always-tool', 'always-command', 'no', 'later'] as const;
export type Answer = (typeof ANSWERS)[number];

export const answerSchema = z.strictObject({
  answer: z
    .enum([...ANSWERS, 'send'])
    .describe(
      'once: allows this call; always-tool: allows this and every later call of this tool by this agent; always-command: allows this and every later call with exactly this command; send: sends `content` to the server that asks; no: declines; later: the call goes on waiting',
    ),
  content: formContentSchema
    .default({})
    .describe(
      'with `send`: values by field name. A field that is left out has its preset value. null sends no value. Nothing of it is stored',
    ),
  words: z.string().max(4_000).default('').describe('with a no: the words that the agent is given'),
  own_hosts: z
    .array(z.string().refine(isExactHost, 'a host by its name: localhost:8080 or 192.168.1.20'))
    .max(SCHEDULE_BOUNDS.hosts)
    .default([])
    .describe(
      'with a yes to `wake_script`: hosts of the relay’s own machine and networks that the script may also reach',
    ),
  seen: z
    .string()
    .max(200)
    .optional()
    .describe(
      'with a yes: the `pin` of the content that was shown, empty if there was none. The relay refuses the answer if the content has changed',
    ),
});

/** How far an agent's commands currently reach, as the person has set it. */
export const commandReachSchema = z.object({
  network: networkSchema,
  sandboxed: z.boolean().describe('false: commands run without a sandbox, with the rights of the relay’s user'),
});
export type CommandReach = z.infer<typeof commandReachSchema>;

/** Whether this relay can run commands. */
export const sandboxSchema = z.object({
  available: z.boolean(),
  why: z
    .string()
    .nullable()
    .describe('why commands cannot run, and what to install: sentences for people; null: they can'),
  watched: z
    .string()
    .optional()
    .describe('commands can run, but no control group bounds their memory: what that means, in sentences for people'),
  insist: z
    .boolean()
    .optional()
    .describe('commands cannot run in a sandbox; the person may let one agent’s commands run without one'),
});
export type SandboxStatus = z.infer<typeof sandboxSchema>;
