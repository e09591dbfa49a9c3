/** What a request tells the rehearsal mind: who it is to be, and what was said so far. */
import { z } from 'zod';
import { attachedIn } from '../../../../src/shared/domain/attachment.ts';
import { languageOf } from '../../../../src/shared/domain/prompts.ts';
import { readSaid } from '../../../../src/shared/domain/quoting.ts';
import { seatNumber } from '../../../../src/shared/domain/seat.ts';
import type { TeamMember } from '../../../../src/shared/protocol/team.ts';

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
export type Body = z.infer<typeof bodySchema>;

const MESSAGE_HEAD = /^\[Message from (?<from>[^\],]+)[^\]]*\]$/;
/** What another agent wrote, under the line that says so; null where it is something else. */
export function messageIn(text: string): { readonly from: string; readonly text: string } | null {
  const [said] = readSaid(text);
  const from = said && text.startsWith(said.head) ? MESSAGE_HEAD.exec(said.head)?.groups?.['from'] : undefined;
  return said && from !== undefined ? { from, text: said.text } : null;
}
/** What the relay tells beside what is said: the time, who woke it, what was left out. */
const NOTE = /^\[[^\n]*\]$/;
const isNote = (text: string): boolean => NOTE.test(text) && attachedIn(text) === null;
/** It stands beside what the person says. */
export const isMessage = (text: string): boolean => messageIn(text) !== null;

/**
 * What came with the words, by name: it stands below them, and the texts of files stand by
 * themselves.
 */
export function attached(texts: readonly string[]): { readonly said: string; readonly files: readonly string[] } {
  const lines = texts.filter((text) => !text.startsWith('[Text of ')).flatMap((text) => [...text.split('\n'), '']);
  const files = lines.flatMap((line) => attachedIn(line) ?? []).map(({ name, size }) => `${name}, ${size}`);
  const said = lines.filter((line) => attachedIn(line) === null).join('\n');
  return { said: said.trim(), files };
}

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
  /** It was not woken: it hatches, or has hatched in this session. */
  readonly isNew: boolean;
  readonly human: string;
  /** The person has the page in German. */
  readonly german: boolean;
  readonly colorName: string;
  readonly hasSoul: boolean;
  /** The system prompt before the protocol: the lead's last conversation stands there. */
  readonly system: string;
  readonly turns: readonly Turn[];
  /** The turn that is to be answered. */
  readonly last: Turn;
  /** Characters of everything that was sent. */
  readonly size: number;
  /** Whom its words can reach, as people write them, in lower case: names, and "seat 3". */
  readonly team: ReadonlySet<string>;
  /** Names of the others, as they are. */
  readonly others: readonly string[];
  /** Names of the tools it is offered. */
  readonly tools: ReadonlySet<string>;
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
      const text =
        typeof block.content === 'string'
          ? block.content
          : (block.content ?? []).map((part) => part.text ?? '').join('');
      return [{ callId: block.tool_use_id, text, isError: block.is_error ?? false }];
    }),
  };
}

const found = (text: string, pattern: RegExp) => pattern.exec(text)?.[1]?.trim() ?? null;

type Member = Pick<TeamMember, 'agentId' | 'name' | 'position'>;
/** Who lives at the relay, household by household. */
export type Households = readonly (readonly Member[])[];

/**
 * Every household of the relay is rehearsed here: whom this one lives with is what its request
 * says.
 */
function toldOf(written: string, households: Households) {
  const isTold = ({ name, position }: Member) =>
    position !== null && written.includes(`${name} (seat ${seatNumber(position)})`);
  const own = households.length === 1 ? households : households.filter((members) => members.some(isTold));
  const members = own.flat();
  return {
    told: members.filter(isTold),
    team: new Set(
      members.flatMap(({ agentId, name, position }) => [
        name.toLowerCase(),
        agentId.toLowerCase(),
        ...(position === null ? [] : [`seat ${seatNumber(position)}`]),
      ]),
    ),
  };
}

export function readBody(body: Body, households: Households): Reading {
  const system =
    typeof body.system === 'string' ? body.system : (body.system ?? []).map((part) => part.text).join('\n');
  const turns = body.messages.map(turnOf);
  const tools = new Set((body.tools ?? []).map((tool) => tool.name));
  const isLead = tools.has('spawn_team');
  // The lead's own soul stands before the protocol, which shows the tag as an example.
  const before = system.split('# The lead')[0] ?? '';
  const seat = Number(found(system, /\bseat (\d)\b/) ?? '5');
  const position = isLead ? 4 : Math.max(0, seat - 1);
  const wokenAs = found(system, /You woke as (.+?)\.(?:\s|$)/);
  const written = JSON.stringify(body);
  const { told, team } = toldOf(written, households);
  return {
    isLead,
    position,
    name: isLead ? found(system, /^You are (.+?), the lead of /) : (wokenAs ?? chosenIn(turns)),
    isNew: !isLead && wokenAs === null,
    human: found(system, isLead ? /the lead of (.+?)'s team/ : /live with (.+?)\. /) ?? 'you',
    german: languageOf(system) === 'German',
    colorName: found(system, /your colour is (.+?)\./) ?? 'Gold',
    hasSoul: before.includes('<your-soul>'),
    system: before,
    turns,
    last: turns.at(-1) ?? { role: 'user', texts: [], calls: [], results: [] },
    size: written.length,
    team,
    others: [...new Set(told.filter((each) => each.position !== position).map(({ name }) => name))],
    tools,
  };
}

const choiceSchema = z.looseObject({ name: z.string() });
/**
 * The name that it has chosen in this conversation: nothing else tells it to who has just hatched.
 */
const chosenIn = (turns: readonly Turn[]): string | null =>
  choiceSchema.safeParse(calledWell({ turns }, 'choose_name')?.input).data?.name ?? null;

/** Did this tool already answer well in this conversation? With its input where it did. */
export function calledWell(reading: Pick<Reading, 'turns'>, name: string): { readonly input: unknown } | null {
  const good = new Set(
    reading.turns.flatMap((turn) => turn.results.flatMap((result) => (result.isError ? [] : [result.callId]))),
  );
  for (const turn of [...reading.turns].reverse())
    for (const call of turn.calls) if (call.name === name && good.has(call.id)) return { input: call.input };
  return null;
}

/** A tool that it called, and what that answered. */
export interface ToolDone {
  readonly name: string;
  readonly input: unknown;
  readonly isError: boolean;
  readonly text: string;
}
/** The tool that it called last, and what that answered; null: none has just answered. */
export function lastDone({ turns, last }: Reading): ToolDone | null {
  const made = turns.at(-2)?.calls.at(-1);
  const [result] = last.results;
  return made && result ? { name: made.name, input: made.input, isError: result.isError, text: result.text } : null;
}

/**
 * What the person said last; '' where they said nothing yet: an agent's first turn is its prompt.
 */
export function lastSaid({ turns, isLead }: Reading): string {
  const said = turns
    .slice(isLead ? 0 : 1)
    .filter(({ role }) => role === 'user')
    .map(({ texts }) => texts.filter((text) => !isMessage(text)).join('\n\n'));
  return said.findLast((text) => text !== '') ?? '';
}
