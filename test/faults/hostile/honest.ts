/**
 * A person who is honest, beside whatever else happens at the relay: calls of their page, talk with
 * their lead, questions that they answer, files. Each answer is looked at, and timed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { toolCallSchema } from '../../../src/shared/protocol/approvals.ts';
import { costsSchema } from '../../../src/shared/protocol/costs.ts';
import { eventSchema, type RoostEvent } from '../../../src/shared/protocol/events.ts';
import { openEventSource, type OpenStream, type StreamMessage } from '../../support/event-source.ts';
import type { Part } from '../../support/scripted-model.ts';
import type { Outage } from './outage.ts';
import type { Scene } from './scene.ts';

export interface Honesty {
  /** ms of each call that met no outage of the database, since this was asked for last. */
  times(): number[];
  /** ms from each word that was said to its whole answer, likewise. */
  answers(): number[];
  /** What was wrong. */
  readonly faults: readonly string[];
  /** Calls that were asked again, since the database was away. */
  repeated(): number;
  /** Ends it, and looks at all that was said. */
  end(): Promise<void>;
}

/** ms between two calls, at most. */
export const PAUSE_MS = 200;
/** ms that something may take before it is a fault; a busy machine is none. */
const PATIENCE_MS = 60_000;
const REPEAT_MS = 250;
/** Messages in which something may be left to do. */
const NEWEST = 12;
/** Of whoever attacks. */
const FOREIGN = /Mordred|Morgan|sk-of-the-second|sk-hostile/;

const waitingSchema = z.object({ waiting: z.array(toolCallSchema) });
const textOf = (event: RoostEvent) =>
  event.kind === 'message' && event.role === 'assistant'
    ? event.blocks.map((block) => (block.kind === 'text' ? block.text : '')).join('')
    : '';
const WORDS = 'one two three four five six seven eight nine ten ';

export async function openHonest(scene: Scene, random: () => number, outage: Outage): Promise<Honesty> {
  const { honest, model, word } = scene;
  const faults: string[] = [];
  let [times, answers]: [number[], number[]] = [[], []];
  let [repeated, ending, over, said] = [0, false, false, 0];

  // What is asked may come together with the result of a tool, or with the yes for an earlier file.
  model.follow(({ body }): readonly Part[] => {
    const told = JSON.stringify(body.messages.slice(-NEWEST));
    const open = (asked: RegExp, done: (name: string) => string) =>
      [...told.matchAll(asked)].flatMap(([, name = '']) => (told.includes(done(name)) ? [] : [name])).at(-1);
    const talk = open(/Say (n\d+)\./g, (name) => `${name} is said:`);
    if (talk !== undefined) return [{ say: `${talk} is said: ${WORDS.repeat(5)}`, chunk: 16 }];
    const file = open(/Write file (n\d+)\./g, (name) => `${name}.md`);
    return file === undefined
      ? [{ say: 'Thank you.' }]
      : [{ call: 'write_file', input: { path: `${file}.md`, content: `Kept in ${file}.` } }];
  });

  /** The answer, once it is none of a database that is away. It must be `status`. */
  async function call(method: string, path: string, json: unknown = null, status = 200): Promise<string> {
    for (const begun = performance.now(); ; await sleep(REPEAT_MS)) {
      const asked = performance.now();
      let answer: Response, text: string;
      try {
        answer = await honest.fetch(path, {
          method,
          ...(json === null ? {} : { json }),
          signal: AbortSignal.timeout(PATIENCE_MS),
        });
        text = await answer.text();
      } catch (error) {
        faults.push(`${method} ${path}: ${String(error)}`);
        return '';
      }
      if (FOREIGN.test(text)) faults.push(`${method} ${path} tells of another household: ${text.slice(0, 300)}`);
      const met = outage.since(asked);
      if (met && answer.status === 503 && text.includes('database-away') && asked - begun < PATIENCE_MS) {
        repeated += 1;
        continue;
      }
      if (!met) times.push(performance.now() - asked);
      if (answer.status !== status) faults.push(`${answer.status} to ${method} ${path}: ${text.slice(0, 300)}`);
      return text;
    }
  }
  const parsed = <Type>(schema: z.ZodType<Type>, text: string, what: string): Type | null => {
    try {
      return schema.parse(JSON.parse(text));
    } catch {
      faults.push(`${what} is not what it should be: ${text.slice(0, 300)}`);
      return null;
    }
  };
  async function eventually<Value>(what: string, probe: () => Promise<Value | null> | Value | null) {
    for (const begun = performance.now(); performance.now() - begun < PATIENCE_MS; await sleep(25)) {
      const found = await probe();
      if (found !== null) return found;
    }
    faults.push(`it never came to this: ${what}`);
    return null;
  }

  let stream: OpenStream | null = null;
  const heard: StreamMessage[] = [];
  const events: RoostEvent[] = [];
  const eventsIn = (messages: readonly StreamMessage[]) =>
    messages.flatMap(({ id, data }) => (id === undefined ? [] : [eventSchema.parse(data)]));
  const follow = async () => {
    while (!over) {
      const after = heard.findLast(({ id }) => id !== undefined)?.id ?? '0';
      const asked = performance.now();
      try {
        stream = await openEventSource((signal) => honest.fetch(`/api/events?after=${after}`, { signal }));
        const { response, messages } = stream;
        if (response.status !== 200 && !outage.since(asked))
          faults.push(`${response.status} to the event stream after ${after}`);
        let taken = 0;
        const take = () => {
          const more = messages.slice(taken);
          taken = messages.length;
          heard.push(...more);
          events.push(...eventsIn(more));
          return over;
        };
        await stream.until(take).catch(() => undefined);
      } catch (error) {
        if (!over && !outage.since(asked)) faults.push(`the event stream: ${String(error)}`);
      }
      if (!over) await sleep(100);
    }
  };
  const following = follow();

  const requestsIn = async () => {
    const costs = parsed(costsSchema, await call('GET', '/api/costs'), 'the account');
    return costs?.days.reduce((sum, { spent }) => sum + spent.requests, 0) ?? 0;
  };

  async function talk(): Promise<void> {
    const name = `n${++said}`;
    const asked = performance.now();
    await call('POST', '/api/messages', { text: `Say ${name}.`, clientId: `c-${name}` }, 202);
    const whole = await eventually(`${name} is answered`, () =>
      events.some((event) => textOf(event).includes(`${name} is said:`)) ? true : null,
    );
    if (whole && !outage.since(asked)) answers.push(performance.now() - asked);
  }
  async function write(): Promise<void> {
    const name = `n${++said}`;
    await call('POST', '/api/messages', { text: `Write file ${name}.`, clientId: `c-${name}` }, 202);
    const asks = await eventually(`${name} is asked about`, async () => {
      const list = parsed(waitingSchema, await call('GET', '/api/approvals'), 'the list of questions');
      return list?.waiting.find(({ input }) => input.includes(`${name}.md`)) ?? null;
    });
    if (!asks) return;
    const path = `/api/approvals/${asks.callId}/answer`;
    // A yes whose answer was lost with the database may have been taken: the same again is refused
    // then.
    const asked = performance.now();
    const answer = await honest.fetch(path, { method: 'POST', json: { answer: 'once', words: '' } });
    const told = await answer.text();
    if (!outage.since(asked)) times.push(performance.now() - asked);
    if (answer.status === 503 && outage.since(asked))
      await eventually(`${name} is allowed`, async () => {
        const again = await honest.fetch(path, { method: 'POST', json: { answer: 'once', words: '' } });
        return [200, 409].includes(again.status) ? true : null;
      });
    else if (answer.status !== 200) faults.push(`${answer.status} to the yes for ${name}: ${told.slice(0, 300)}`);
    await eventually(`${name} is written`, async () => {
      const file = await honest.fetch(`/api/workspaces/lead/file?path=${name}.md`);
      return (await file.text()) === `Kept in ${name}.` ? true : null;
    });
    if (!(await call('POST', path, { answer: 'once', words: '' }, 409)).includes('about:roost/'))
      faults.push(`a second yes for ${name} was not refused as it should be`);
  }
  /** What its page asks for, with a word that must be in the answer. */
  const ASKED = [
    ['/api/health', '"status":"ok"'],
    ['/api/home', '"begun":true'],
    ['/api/models', '"scripted"'],
    ['/v1/config', '"files":"ask"'],
    ['/api/agent-snapshots', '"a1"'],
    ['/api/workspaces/a1?path=', '"kept.md"'],
    ['/api/workspaces/a1/file?path=kept.md', word],
    ['/api/costs', '"today"'],
    ['/api/calls', '"calls"'],
    ['/api/inbox', ''],
    ['/api/threads', ''],
    ['/v1/agents/a1/schedule', '"schedules"'],
    ['/api/mcp-servers', '"servers"'],
    ['/api/credentials', ''],
  ] as const;
  async function check(): Promise<void> {
    const [path, has] = ASKED[Math.floor(random() * ASKED.length)] ?? ASKED[0];
    const text = await call('GET', path);
    if (!text.includes(has)) faults.push(`${path} is without ${has}: ${text.slice(0, 300)}`);
  }

  const before = { asked: model.requests.length, counted: await requestsIn() };
  const looking = (async () => {
    while (!ending) {
      await check();
      await sleep(random() * PAUSE_MS);
    }
  })();
  const speaking = (async () => {
    while (!ending) {
      await (random() < 0.7 ? talk() : write());
      await sleep(random() * PAUSE_MS);
    }
  })();

  return {
    faults,
    times() {
      const given = times;
      times = [];
      return given;
    },
    answers() {
      const given = answers;
      answers = [];
      return given;
    },
    repeated: () => repeated,
    async end() {
      ending = true;
      await Promise.all([looking, speaking]);
      // What follows an answer by itself comes to its end.
      await eventually('nobody speaks any more', () => {
        const began = events.flatMap((event) => (event.kind === 'answer-started' ? [event.messageId] : []));
        const whole = new Set(events.flatMap((event) => (event.kind === 'message' ? [event.messageId] : [])));
        return began.every((id) => whole.has(id)) ? true : null;
      });
      const kept = await openEventSource((signal) => honest.fetch('/api/events?after=0', { signal }));
      const all = [...(await kept.until((so) => so.some(({ event }) => event === 'snapshot')))];
      kept.close();
      over = true;
      stream?.close();
      await following;

      const numbered = (messages: readonly StreamMessage[]) =>
        messages.flatMap(({ id, data }) => {
          // The stamp is set where it is kept.
          const line = JSON.stringify({ ...(data as object), at: undefined });
          return id === undefined ? [] : [`${id} ${line}`];
        });
      const [live, read] = [numbered(heard), numbered(all)];
      for (const [at, line] of live.entries())
        if (read[at] !== line) {
          faults.push(`the page heard ${line.slice(0, 200)}, and the log has ${String(read[at]).slice(0, 200)}`);
          break;
        }
      const ids = all.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
      if (ids.some((id, at) => at > 0 && id !== (ids[at - 1] ?? 0) + 1)) faults.push('the log has a gap');
      if (FOREIGN.test(read.join('\n'))) faults.push('the log tells of another household');
      const inLog = eventsIn(all);
      for (let n = 1; n <= said; n++) {
        const found = inLog.filter((event) => textOf(event).includes(`n${n} is said:`)).length;
        const askedFor = inLog.some(
          (event) => event.kind === 'message' && JSON.stringify(event).includes(`Say n${n}.`),
        );
        if (found !== (askedFor ? 1 : 0)) faults.push(`n${n} was answered ${found} times`);
      }
      for (const event of inLog) {
        if (event.kind !== 'message' || event.role !== 'assistant') continue;
        const pieces = inLog.map((each) =>
          each.kind === 'text' && each.messageId === event.messageId ? each.text : '',
        );
        if (pieces.join('') !== textOf(event))
          faults.push(`${event.messageId} was shown in other words than it is kept in`);
      }
      if (inLog.some(({ kind }) => kind === 'session-ended')) faults.push('the session has ended');
      // The lead may still be answering a yes.
      const counted = async () => (await requestsIn()) - before.counted;
      const asked = () => model.requests.length - before.asked;
      const isCounted = await eventually('each request is in the account', async () =>
        (await counted()) === asked() ? true : null,
      );
      if (!isCounted) faults.push(`${asked()} requests were made, and ${await counted()} are in the account`);
    },
  };
}
