/** How an agent of a rehearsal wakes: it greets, and shows that it remembers. */
import { temperamentOf } from './birth.ts';
import { createChance, seedOf } from './chance.ts';
import { readSaid } from '../../../src/domain/quoting.ts';
import { parseTranscript } from '../../../src/domain/transcript.ts';
import { quote } from './facts.ts';
import type { Reading } from './reading.ts';
import { words, type ReplyPart } from './reply.ts';

function soulIn(prompt: string): string | null {
  const inside = readSaid(prompt).find(({ head }) => head === '<your-soul>')?.text;
  return inside?.trim() ? inside.trim() : null;
}

export function greet(reading: Reading, seed: number): ReplyPart[] {
  const prompt = reading.turns[0]?.texts.join('\n') ?? '';
  const said = parseTranscript(prompt);
  const theirs = said.filter((message) => message.author === reading.human && message.text !== '').at(-1);
  const last = said.filter((message) => message.text !== '').at(-1);
  const soul = soulIn(prompt);
  const chance = createChance(seedOf('greeting', seed, reading.position, theirs?.text ?? '', said.length));
  const temperament = temperamentOf(seed, reading.position);
  const hello = chance.pick([
    `Good morning, ${reading.human}. ${chance.pick(temperament.hello)}`,
    `Hello, ${reading.human}. ${chance.pick(temperament.hello)}`,
    `There you are, ${reading.human}. ${chance.pick(temperament.hello)}`,
  ]);
  const name = reading.name
    ? `I am ${reading.name}; the name still fits.`
    : 'I have not got a name yet, and I am here all the same.';
  return [words(hello, `${name} ${lastTalkOf(theirs?.text, last, soul)}`)];
}

function lastTalkOf(
  theirs: string | undefined,
  last: { author: string; text: string } | undefined,
  soul: string | null,
): string {
  if (theirs) return `The last thing you told me before I slept was ${quote(theirs)}. I have kept it.`;
  if (last) return `The last words I have from before are ${quote(last.text)}.`;
  if (soul) return `What I have from before is what I wrote on my first day: ${quote(soul.split(/\n\n/)[0] ?? soul)}.`;
  return 'I remember nothing from before, so this may as well be the first day.';
}
