/** What a stranger sends to a webhook: JSON, a form, or an event of GitHub. */
import { z } from 'zod';
import { isRecord } from '../../src/shared/domain/platform/json.ts';
import { type WebhookTask, webhookTaskSchema } from '../../src/shared/protocol/webhooks.ts';
import { PROJECT_LIMITS } from '../../src/shared/protocol/projects.ts';
import { readJson, tooMuchOf } from '../http/body.ts';
import { misfit, problem } from '../http/problem.ts';
import { WEBHOOK_SETTINGS } from './settings.ts';

const JSON_BOUNDS = {
  bytes: WEBHOOK_SETTINGS.bodyBytes,
  json: { depth: WEBHOOK_SETTINGS.bodyDepth, values: WEBHOOK_SETTINGS.bodyValues },
};
const notUtf8 = () => problem(400, 'not-json', 'The body is not UTF-8.');

function formOf(body: Uint8Array): Readonly<Record<string, string>> {
  try {
    return Object.fromEntries(new URLSearchParams(new TextDecoder('utf-8', { fatal: true }).decode(body)));
  } catch (error) {
    if (error instanceof TypeError) throw notUtf8();
    throw error;
  }
}

/** Fields that are text. Files are ignored. */
async function partsOf(body: Uint8Array, type: string): Promise<Readonly<Record<string, string>>> {
  try {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
    return Object.fromEntries([...form].filter((field): field is [string, string] => typeof field[1] === 'string'));
  } catch (error) {
    if (error instanceof TypeError) throw problem(400, 'not-json', 'The body is not a form of its content type.');
    throw error;
  }
}

async function jsonOf(body: Uint8Array): Promise<unknown> {
  const read = await readJson(new Blob([new Uint8Array(body)]).stream(), JSON_BOUNDS);
  if (read.ok) return read.value;
  if (read.fault === 'syntax') throw problem(400, 'not-json', 'The body is not JSON in UTF-8.');
  throw problem(413, read.fault === 'length' ? 'too-large' : 'too-much', tooMuchOf(read.fault, JSON_BOUNDS));
}

const FORM = 'application/x-www-form-urlencoded';
const OPENING_BRACE = 0x7b;
const isSpace = (byte: number) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);

/** How a body is read. */
interface Sort {
  /** Media type. */
  readonly type: string | undefined;
  /** The name of GitHub's event; undefined: it is none of GitHub's. */
  readonly event: string | undefined;
}

/**
 * The sort of a signed body, by the body alone: its headers are not signed. GitHub names its event
 * only in a header, so the fields of the body tell it.
 */
export async function signedSort(body: Uint8Array): Promise<Sort> {
  const isJson = body.find((byte) => !isSpace(byte)) === OPENING_BRACE;
  const type = isJson ? 'application/json' : FORM;
  const payload = isJson ? body : Buffer.from(new URLSearchParams(Buffer.from(body).toString()).get('payload') ?? '');
  const read = await readJson(new Blob([new Uint8Array(payload)]).stream(), JSON_BOUNDS);
  const value = read.ok && isRecord(read.value) ? read.value : {};
  if ('zen' in value && 'webhook_id' in value) return { type, event: 'ping' };
  if ('issue' in value && 'action' in value && !('comment' in value)) return { type, event: 'issues' };
  return { type, event: 'sender' in value || 'repository' in value ? 'other' : undefined };
}

/** The value of a body. GitHub sends JSON, or a form whose field `payload` is JSON. */
async function valueOf(body: Uint8Array, type: string, isGithub: boolean): Promise<unknown> {
  switch (type.split(';')[0]?.trim().toLowerCase()) {
    case 'application/json':
      return await jsonOf(body);
    case FORM: {
      const form = formOf(body);
      return isGithub ? await jsonOf(Buffer.from(form['payload'] ?? '')) : form;
    }
    case 'multipart/form-data':
      return await partsOf(body, type);
    default:
      throw problem(
        415,
        'not-json',
        'Send JSON (application/json) or a form (application/x-www-form-urlencoded or multipart/form-data).',
      );
  }
}

function fitted<Value>(schema: z.ZodType<Value>, value: unknown): Value {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw misfit(parsed.error);
  return parsed.data;
}

/** The first characters, with a sign that there were more. No character is cut in two. */
const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;

/** Says in the task what was cut. `end`: what the text ends with, in any case. */
function fittedTask(title: string, text: string, end = ''): WebhookTask {
  const lengthOf = (what: string) => `${what.length.toLocaleString('en')} characters`;
  const notes = [
    ...(title.length > PROJECT_LIMITS.title ? [`Roost cut the title. It had ${lengthOf(title)}.`] : []),
    ...(text.length + end.length > PROJECT_LIMITS.text ? [`Roost cut the text. It had ${lengthOf(text)}.`] : []),
  ];
  const after = `${notes.length === 0 ? '' : `\n\n[${notes.join(' ')}]`}${end}`;
  return {
    title: cut(title, PROJECT_LIMITS.title),
    text: `${cut(text, PROJECT_LIMITS.text - after.length)}${after}`.trim(),
  };
}

const namedIssue = z.object({ id: z.union([z.number(), z.string()]).nullish(), html_url: z.string().nullish() });
const issueEvent = z.object({
  action: z.string(),
  issue: z.object({ ...namedIssue.shape, title: z.string(), body: z.string().nullish() }),
  label: z.object({ name: z.string() }).nullish(),
  /** Of a transfer: the issue in the repository where it was, or where it is now. */
  changes: z.object({ old_issue: namedIssue.nullish(), new_issue: namedIssue.nullish() }).nullish().catch(null),
});
type IssueEvent = z.output<typeof issueEvent>;

/** What a body asks for. `issues`: the names of the issue that it is about. */
interface Asked {
  readonly task: WebhookTask | null;
  readonly issues: readonly string[];
}

function issuesOf({ issue, changes }: IssueEvent): readonly string[] {
  const names = [issue, changes?.old_issue, changes?.new_issue].map((each) => String(each?.id ?? each?.html_url ?? ''));
  return [...new Set(names.filter((name) => name !== ''))];
}

/** Null: the webhook does not listen to this event. */
function taskOfIssue({ action, issue, label: set }: IssueEvent, label: string | null): WebhookTask | null {
  const isWanted = label === null ? action === 'opened' : action === 'labeled' && set?.name === label;
  if (!isWanted) return null;
  const url = issue.html_url ?? '';
  const end = url === '' ? '' : `\n\n${cut(url, PROJECT_LIMITS.note)}`;
  return fittedTask(issue.title.trim() || 'An issue without a title', issue.body ?? '', end);
}

/**
 * The task that the stranger asks for. Null: the event of GitHub asks for none. Throws a problem
 * where the body does not fit.
 *
 * `label`: of GitHub's issues only those that get this label; null: those that are opened.
 */
export async function taskOf(
  body: Uint8Array,
  { type = '', event, label }: Sort & { readonly label: string | null },
): Promise<Asked> {
  if (event !== undefined && event !== 'issues') return { task: null, issues: [] };
  const value = await valueOf(body, type, event !== undefined);
  if (event === undefined) {
    const { title, text } = fitted(webhookTaskSchema, value);
    return { task: fittedTask(title, text), issues: [] };
  }
  const of = fitted(issueEvent, value);
  return { task: taskOfIssue(of, label), issues: issuesOf(of) };
}
