/** Reads a request to the demo mind: the agent's identity, and the conversation so far. */
import { z } from 'zod';
import { attachedIn } from '../../../../src/shared/domain/attachment.ts';
import { languageOf } from '../../../../src/shared/domain/prompts.ts';
import { readSaid } from '../../../../src/shared/domain/quoting.ts';
import { seatNumber } from '../../../../src/shared/domain/seat.ts';
import type { TeamMember } from '../../../../src/shared/protocol/team.ts';
import { ENGLISH, type Language } from './english.ts';
import { GERMAN } from './german.ts';

/** The languages of the demo. A new one needs a table, and an entry here. */
export const LANGUAGES: readonly [Language, ...Language[]] = [ENGLISH, GERMAN];

const blockSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('image') }),
  z.looseObject({ type: z.literal('document') }),
  z.looseObject({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() }),
  z.looseObject({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    content: z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]).optional(),
    is_error: z.boolean().optional(),
  }),
]);
const contentSchema = z.union([z.string(), z.array(blockSchema)]);
export const bodySchema = z.looseObject({
  model: z.string(),
  max_tokens: z.number().int().positive(),
  stream: z.literal(true),
  system: z.union([z.string(), z.array(z.looseObject({ type: z.literal('text'), text: z.string() }))]).optional(),
  tools: z.array(z.looseObject({ name: z.string() })).optional(),
  messages: z.array(z.looseObject({ role: z.enum(['user', 'assistant']), content: contentSchema })).min(1),
});
type Body = z.infer<typeof bodySchema>;

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly texts: readonly string[];
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: unknown }[];
  readonly results: readonly { readonly callId: string; readonly text: string; readonly isError: boolean }[];
}

export interface Reading {
  readonly isLead: boolean;
  /** 0–8 */
  readonly position: number;
  readonly name: string | null;
  /** The agent was not woken. It hatches, or has hatched in this session. */
  readonly isNew: boolean;
  readonly human: string;
  /** The language of the person's page. */
  readonly language: Language;
  readonly colorName: string;
  readonly hasSoul: boolean;
  /** The system prompt before the protocol. It has the lead's last conversation. */
  readonly system: string;
  readonly turns: readonly Turn[];
  /** The turn to answer. */
  readonly last: Turn;
  /** Characters of the whole request. */
  readonly size: number;
  /** The agents within reach as people write them, in lower case: names, ids and "seat 3". */
  readonly team: readonly string[];
  /** Names of the other agents, unchanged. */
  readonly others: readonly string[];
  /** Names of the offered tools. */
  readonly tools: ReadonlySet<string>;
}

const MESSAGE_HEAD = /^\[Message from ([^\],]+)[^\]]*\]$/;
/**
 * A message of another agent or of the relay, under its header line; null: the text is something
 * else.
 */
export function messageIn(text: string): { readonly from: string; readonly text: string } | null {
  const [said] = readSaid(text);
  const from = said && text.startsWith(said.head) ? MESSAGE_HEAD.exec(said.head)?.[1] : undefined;
  return said && from !== undefined ? { from, text: said.text } : null;
}
/** Whether the text is a note of the relay: the time, who woke the agent, what was dropped. */
const isNote = (text: string): boolean => /^\[[^\n]*\]$/.test(text) && attachedIn(text) === null;

/** The person's texts in a turn. */
export const spoken = ({ texts }: Turn): readonly string[] => texts.filter((text) => messageIn(text) === null);

/** The person's words, and the names of the attached files. Contents of files are not words. */
export function withoutFiles(texts: readonly string[]): { readonly said: string; readonly files: readonly string[] } {
  const lines = texts.filter((text) => !text.startsWith('[Text of ')).flatMap((text) => [...text.split('\n'), '']);
  const files = lines.flatMap((line) => attachedIn(line) ?? []).map(({ name, size }) => `${name}, ${size}`);
  const said = lines.filter((line) => attachedIn(line) === null).join('\n');
  return { said: said.trim(), files };
}

function turnOf({ role, content }: Body['messages'][number]): Turn {
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  return {
    role,
    texts: blocks.flatMap((block) => (block.type === 'text' && !isNote(block.text) ? [block.text] : [])),
    calls: blocks.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input }] : [],
    ),
    results: blocks.flatMap((block) => {
      if (block.type !== 'tool_result') return [];
      const { content: parts = '' } = block;
      const text = typeof parts === 'string' ? parts : parts.map((part) => part.text ?? '').join('');
      return [{ callId: block.tool_use_id, text, isError: block.is_error ?? false }];
    }),
  };
}

const firstMatch = (text: string, pattern: RegExp) => pattern.exec(text)?.[1]?.trim() ?? null;

type Member = Pick<TeamMember, 'agentId' | 'name' | 'position'>;
/** The members at this relay, by household. */
export type Households = readonly (readonly Member[])[];

/**
 * One demo mind serves all households. The request itself tells which team this agent belongs to.
 */
function teamOf(written: string, households: Households) {
  const isNamed = ({ name, position }: Member) =>
    position !== null && written.includes(`${name} (seat ${seatNumber(position)})`);
  const members = (households.length === 1 ? households : households.filter((all) => all.some(isNamed))).flat();
  return {
    named: members.filter(isNamed),
    team: members.flatMap(({ agentId, name, position }) => [
      name.toLowerCase(),
      agentId.toLowerCase(),
      ...(position === null ? [] : [`seat ${seatNumber(position)}`]),
    ]),
  };
}

export function readBody(body: Body, households: Households): Reading {
  const system =
    typeof body.system === 'string' ? body.system : (body.system ?? []).map((part) => part.text).join('\n');
  const turns = body.messages.map(turnOf);
  const tools = new Set((body.tools ?? []).map((tool) => tool.name));
  const isLead = tools.has('spawn_team');
  // The lead's own soul comes before the protocol, which shows the tag as an example.
  const before = system.split('# The lead')[0] ?? '';
  const position = isLead ? 4 : Math.max(0, Number(firstMatch(system, /\bseat (\d)\b/) ?? '5') - 1);
  const wokenAs = firstMatch(system, /You woke as (.+?)\.(?:\s|$)/);
  const written = JSON.stringify(body);
  const { named, team } = teamOf(written, households);
  return {
    isLead,
    position,
    name: isLead ? firstMatch(system, /^You are (.+?), the lead of /) : (wokenAs ?? chosenName(turns)),
    isNew: !isLead && wokenAs === null,
    human: firstMatch(system, isLead ? /the lead of (.+?)'s team/ : /live with (.+?)\. /) ?? 'you',
    language: LANGUAGES.find(({ name }) => name === languageOf(system)) ?? ENGLISH,
    colorName: firstMatch(system, /your colour is (.+?)\./) ?? 'Gold',
    hasSoul: before.includes('<your-soul>'),
    system: before,
    turns,
    last: turns.at(-1) ?? { role: 'user', texts: [], calls: [], results: [] },
    size: written.length,
    team,
    others: [...new Set(named.filter((each) => each.position !== position).map(({ name }) => name))],
    tools,
  };
}

/** The input of the last successful call of this tool in the conversation; null: none. */
export function calledWell({ turns }: Pick<Reading, 'turns'>, name: string): { readonly input: unknown } | null {
  const good = new Set(turns.flatMap(({ results }) => results.flatMap((each) => (each.isError ? [] : [each.callId]))));
  return turns.flatMap(({ calls }) => calls).findLast((call) => call.name === name && good.has(call.id)) ?? null;
}
const choiceSchema = z.looseObject({ name: z.string() });
/** Only this conversation tells an agent that has just hatched its name. */
const chosenName = (turns: readonly Turn[]): string | null =>
  choiceSchema.safeParse(calledWell({ turns }, 'choose_name')?.input).data?.name ?? null;

export interface ToolDone {
  readonly name: string;
  readonly input: unknown;
  readonly isError: boolean;
  readonly text: string;
}
/** The tool whose result is the last turn; null: none. */
export function lastDone({ turns, last }: Reading): ToolDone | null {
  const made = turns.at(-2)?.calls.at(-1);
  const [result] = last.results;
  return made && result ? { name: made.name, input: made.input, isError: result.isError, text: result.text } : null;
}

/** The person's turns, oldest first. An agent's first turn is its prompt and does not count. */
export const personsTurns = ({ turns, isLead }: Reading): readonly Turn[] =>
  turns.slice(isLead ? 0 : 1).filter(({ role }) => role === 'user');
/** The person's last words; '': none yet. */
export const lastSaid = (reading: Reading): string =>
  personsTurns(reading)
    .map((turn) => spoken(turn).join('\n\n'))
    .findLast((text) => text !== '') ?? '';
