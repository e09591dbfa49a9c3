/**
 * What must hold after any fault. Each check answers with what is wrong, as sentences; nothing is
 * good.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { isKnown } from '../../src/shared/protocol/documents/kinds.ts';
import type { StoredEvent } from '../../src/shared/protocol/events.ts';
import { documentsOf } from '../../src/shared/protocol/intake.ts';
import { messagesIn, textsIn, type Shown } from './evidence.ts';
import { faultOf, numberOf, plain, type Words } from './words.ts';

const textsOf = (rows: readonly Shown[]) => rows.filter((row) => !row.mine).flatMap((row) => row.texts);

/**
 * Each text that was shown before is there still, and maybe more of it; each answer stands once; no
 * word is wrong.
 */
export function faultsOfShown(
  where: string,
  before: readonly Shown[],
  after: readonly Shown[],
  told: Words['told'],
): string[] {
  const texts = textsOf(after);
  const numbers = texts.flatMap((text) => numberOf(text) ?? []);
  return [
    ...texts.flatMap((text) => faultOf(text, told) ?? []),
    ...textsOf(before)
      .filter((text) => !texts.some((now) => now.startsWith(text)))
      .map((text) => `"${text.slice(-40)}" was shown, and is gone`),
    ...numbers.filter((number, i) => numbers.indexOf(number) !== i).map((number) => `answer ${number} is shown twice`),
  ].map((fault) => `${where}: ${fault}`);
}

/** The events of one answer, put together, are its message; each answer that began ended, once. */
export function faultsOfLog(events: readonly StoredEvent[], told: Words['told']): string[] {
  const faults: string[] = [];
  const words = new Map<string, string>();
  const ended = new Set<string>();
  let session: string | null = null;
  events.forEach(({ id, event }, i) => {
    const before = events[i - 1]?.id ?? id - 1;
    if (id !== before + 1) faults.push(`event ${id} follows ${before}`);
    if (event.kind === 'session-started') {
      if (session !== null) faults.push(`session ${event.sessionId} began while ${session} ran`);
      session = event.sessionId;
    } else if (event.kind === 'session-ended') {
      if (session !== event.sessionId) faults.push(`session ${event.sessionId} ended and did not run`);
      session = null;
    } else if (event.kind === 'answer-started') words.set(event.messageId, '');
    else if (event.kind === 'text') {
      if (ended.has(event.messageId) || !words.has(event.messageId))
        faults.push(`words of ${event.messageId}, which is not being written`);
      words.set(event.messageId, (words.get(event.messageId) ?? '') + event.text);
    } else if (event.kind === 'message' && event.role === 'assistant') {
      if (ended.has(event.messageId)) faults.push(`answer ${event.messageId} ended twice`);
      ended.add(event.messageId);
      const text = event.blocks.map((block) => (block.kind === 'text' ? block.text : '')).join('');
      if (text !== (words.get(event.messageId) ?? ''))
        faults.push(`answer ${event.messageId} is not what was streamed of it`);
      for (const block of event.blocks)
        if (block.kind === 'text') faults.push(...[faultOf(plain(block.text), told) ?? []].flat());
    }
  });
  if (session === null)
    for (const messageId of words.keys()) if (!ended.has(messageId)) faults.push(`answer ${messageId} never ended`);
  return faults.map((fault) => `the relay’s log: ${fault}`);
}

/**
 * The ledger holds what the relay says, word for word, and nothing of it that the relay does not
 * say; what it held before it holds unchanged.
 */
export function faultsOfLedger(
  before: readonly Doc[],
  after: readonly Doc[],
  events: readonly StoredEvent[],
  told: Words['told'],
): string[] {
  const held = new Map(after.map((doc) => [doc._id, doc]));
  const said = new Map(events.flatMap((stored) => documentsOf(stored)).map((doc) => [doc._id, doc]));
  const ofRelay = (doc: Doc) => isKnown(doc) && (doc.type === 'message' || doc.type === 'session');
  return [
    ...before
      .filter((doc) => !isDeepStrictEqual(doc, held.get(doc._id)))
      .map((doc) => `${doc._id} was stored, and is ${held.has(doc._id) ? 'changed' : 'gone'}`),
    ...[...said.values()]
      .filter((doc) => !isDeepStrictEqual(doc, held.get(doc._id)))
      .map((doc) => `${doc._id} is ${held.has(doc._id) ? 'not as the relay says' : 'not stored'}`),
    ...after.filter((doc) => ofRelay(doc) && !said.has(doc._id)).map((doc) => `${doc._id} was never said by the relay`),
    ...messagesIn(after)
      .filter((message) => message.role === 'assistant')
      .flatMap(textsIn)
      .flatMap((text) => faultOf(text, told) ?? []),
  ].map((fault) => `the ledger: ${fault}`);
}

export class Fault extends Error {
  constructor(when: string, faults: readonly string[]) {
    super(`${when}:\n  ${faults.join('\n  ')}`);
    this.name = 'Fault';
  }
}

/** Throws a `Fault` where anything is wrong. */
export function demand(when: string, faults: readonly string[]): void {
  if (faults.length > 0) throw new Fault(when, [...new Set(faults)]);
}
