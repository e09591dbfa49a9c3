/** What a stranger sends to a hook: JSON, a form, or an event of GitHub. */
import { z } from 'zod';
import { hookedTaskSchema } from '../../src/shared/protocol/hooks.ts';
import { PROJECT_LIMITS } from '../../src/shared/protocol/projects.ts';
import { readJson, tooMuchOf } from '../http/body.ts';
import { misfit, problem } from '../http/problem.ts';
import { HOOK_SETTINGS } from './settings.ts';

type HookedTask = z.output<typeof hookedTaskSchema>;

const JSON_BOUNDS = {
  bytes: HOOK_SETTINGS.bodyBytes,
  json: { depth: HOOK_SETTINGS.bodyDepth, values: HOOK_SETTINGS.bodyValues },
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

async function jsonOf(body: Uint8Array): Promise<unknown> {
  const read = await readJson(new Blob([new Uint8Array(body)]).stream(), JSON_BOUNDS);
  if (read.ok) return read.value;
  if (read.fault === 'syntax') throw problem(400, 'not-json', 'The body is not JSON in UTF-8.');
  throw problem(413, read.fault === 'length' ? 'too-large' : 'too-much', tooMuchOf(read.fault, JSON_BOUNDS));
}

/** The value of a body. GitHub sends JSON, or a form whose field `payload` is JSON. */
async function valueOf(body: Uint8Array, type: string | undefined, isGithub: boolean): Promise<unknown> {
  switch (type?.split(';')[0]?.trim().toLowerCase()) {
    case 'application/json':
      return await jsonOf(body);
    case 'application/x-www-form-urlencoded': {
      const form = formOf(body);
      return isGithub ? await jsonOf(Buffer.from(form['payload'] ?? '')) : form;
    }
    default:
      throw problem(415, 'not-json', 'Send JSON (application/json) or a form (application/x-www-form-urlencoded).');
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

const issueEvent = z.object({
  action: z.string(),
  issue: z.object({ title: z.string(), body: z.string().nullish(), html_url: z.string().nullish() }),
  label: z.object({ name: z.string() }).nullish(),
});

/** Null: the hook does not listen to this event. */
function issueOf(event: z.output<typeof issueEvent>, label: string | null): HookedTask | null {
  const { action, issue } = event;
  const isWanted = label === null ? action === 'opened' : action === 'labeled' && event.label?.name === label;
  if (!isWanted) return null;
  const url = issue.html_url ?? '';
  const end = url === '' ? '' : `\n\n${cut(url, PROJECT_LIMITS.note)}`;
  const text = `${cut(issue.body ?? '', PROJECT_LIMITS.text - end.length)}${end}`.trim();
  return { title: cut(issue.title.trim(), PROJECT_LIMITS.title) || 'An issue without a title', text };
}

/**
 * The task that the stranger asks for. Null: the event of GitHub asks for none. Throws a problem
 * where the body does not fit.
 *
 * `event`: the name of GitHub's event; undefined: it is none of GitHub's. `label`: of GitHub's
 * issues only those that get this label; null: those that are opened.
 */
export async function taskOf(
  body: Uint8Array,
  { type, event, label }: { type: string | undefined; event: string | undefined; label: string | null },
): Promise<HookedTask | null> {
  if (event !== undefined && event !== 'issues') return null;
  const value = await valueOf(body, type, event !== undefined);
  return event === undefined ? fitted(hookedTaskSchema, value) : issueOf(fitted(issueEvent, value), label);
}
