/**
 * What each agent was told, session by session, as the relay's events have it: an account of its
 * own, in their order.
 */
import { quote } from '../../src/shared/domain/quoting.ts';
import type { EventOf, RoostEvent } from '../../src/shared/protocol/events.ts';

const FACT = /⟦\d+⟧/g;

/** The `n`th thing that somebody is told, as it is found again in a prompt. */
export const factText = (n: number): string => `⟦${n}⟧`;

export interface Oracle {
  hear(event: RoostEvent): void;
  /** What was said to it in the last session in which anything was. */
  lastFacts(agentId: string): readonly string[];
  soulOf(agentId: string): string | null;
}

export function createOracle(): Oracle {
  const heard = new Map<string, Map<string, Set<string>>>();
  const waiting = new Map<string, string>();
  const souls = new Map<string, string>();
  const note = (agentId: string, sessionId: string | null, text: string) => {
    if (sessionId === null) return;
    const facts = text.match(FACT) ?? [];
    if (facts.length === 0) return;
    const sessions = heard.get(agentId) ?? new Map<string, Set<string>>();
    heard.set(agentId, sessions);
    const held = sessions.get(sessionId) ?? new Set();
    // The session that was spoken in last stands last.
    sessions.delete(sessionId);
    sessions.set(sessionId, new Set([...held, ...facts]));
  };
  const textOf = ({ blocks }: EventOf<'message'>) =>
    blocks.map((block) => (block.kind === 'text' ? block.text : '')).join('\n');
  return {
    hear(event) {
      if (event.kind === 'agent-born') souls.set(event.agentId, event.soul);
      else if (event.kind === 'message-read') note(event.agentId, event.sessionId, waiting.get(event.messageId) ?? '');
      else if (event.kind === 'message' && event.role === 'user' && event.author !== 'relay') {
        if (event.waiting) waiting.set(event.messageId, textOf(event));
        else note(event.agentId, event.sessionId, textOf(event));
      }
    },
    lastFacts: (agentId) => [...([...(heard.get(agentId)?.values() ?? [])].at(-1) ?? [])],
    soulOf: (agentId) => souls.get(agentId) ?? null,
  };
}

/**
 * What stands around each place where it is told: by that a fault of a life that takes an hour is
 * understood.
 */
const aroundEach = (text: string, part: string) =>
  [...text.matchAll(new RegExp(part, 'g'))].map(({ index }) => text.slice(Math.max(0, index - 200), index + 80));

const countOf = (text: string, part: string) => text.split(part).length - 1;

/**
 * What is wrong with a prompt that woke somebody; empty where nothing is. `cap`: characters that a
 * transcript may have.
 */
export function faultsOf(
  prompt: string,
  {
    who,
    facts,
    soul,
    cap,
  }: { readonly who: string; readonly facts: readonly string[]; readonly soul: string | null; readonly cap: number },
): string[] {
  const transcript = /<previous-session>\n([\s\S]*?)\n<\/previous-session>/.exec(prompt)?.[1] ?? '';
  const twice = [...new Set(transcript.match(FACT) ?? [])].filter((fact) => countOf(transcript, fact) > 1);
  return [
    ...(transcript.length > cap ? [`${who} is given ${transcript.length} characters`] : []),
    ...facts.filter((fact) => !transcript.includes(fact)).map((fact) => `${who} has lost ${fact}`),
    ...twice.map((fact) => `${who} is told ${fact} twice:\n${aroundEach(transcript, fact).join('\n…\n')}\n`),
    ...(soul !== null && countOf(prompt, quote(soul)) !== 1
      ? [`${who} is given its soul ${countOf(prompt, quote(soul))} times`]
      : []),
  ];
}
