/**
 * LongMemEval’s five abilities, as far as they are a matter of finding: 500 questions over
 * histories in its published form, which together are the past of one agent. Each question is
 * asked as it stands, by `recall` at the relay, which asks the search of a page.
 */
import MiniSearch from 'minisearch';
import type { Caller } from '../../server/tools/index.ts';
import type { MessageDoc } from '../../src/shared/protocol/documents.ts';
import { stampOf } from '../support/documents.ts';
import { ABILITIES, type LongMemoryQuestion, longMemoryQuestions, timeOfDate } from '../support/long-memory.ts';
import { createMemoryIndex, createMemoryLedger, searchOver } from '../support/search.ts';
import { openSessionBench } from '../support/session.ts';
import type { Figure } from './figures.ts';
import { percentile } from './figures.ts';
import { definePart } from './part.ts';

const AGENT = 'agent-0';
const SEED = 1;
/** Passages of a result, as `recall` has them by itself. */
const PASSAGES = 10;
const BAR = 90;
const FULL = { questions: 500, turns: 200 };
const SMOKE: typeof FULL = { questions: 17, turns: 24 };

/** Turns of one session are a minute apart. */
const MINUTE_MS = 60_000;

interface Life {
  readonly questions: readonly LongMemoryQuestion[];
  readonly docs: readonly MessageDoc[];
  /** By the time of a message, as a result names it. */
  readonly sessionAt: ReadonlyMap<string, string>;
}

/** The histories as what was said with one agent. Every message has a time of its own. */
function lifeOf(questions: readonly LongMemoryQuestion[]): Life {
  const docs: MessageDoc[] = [];
  const sessionAt = new Map<string, string>();
  for (const [n, question] of questions.entries())
    for (const [i, session] of question.haystack_sessions.entries())
      for (const [t, { role, content }] of session.entries()) {
        const sessionId = question.haystack_session_ids[i] ?? '';
        const time = timeOfDate(question.haystack_dates[i] ?? '') + t * MINUTE_MS + n;
        const messageId = `${sessionId}_${t}`;
        sessionAt.set(new Date(time).toISOString(), sessionId);
        docs.push({
          ...{
            _id: `message:${messageId}`,
            type: 'message',
            schema: 1,
            at: stampOf(docs.length),
            messageId,
            sessionId,
          },
          ...{ agentId: AGENT, author: role === 'user' ? 'human' : AGENT, role, status: 'complete', error: null },
          ...{ blocks: [{ kind: 'text', text: content }], usage: null, time, clientId: null, replaces: null },
        });
      }
  return { questions, docs, sessionAt };
}

/** What a result names: sessions, in order. */
const sessionsIn = (result: string, { sessionAt }: Life): readonly string[] =>
  [...result.matchAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g)].flatMap(([time]) => sessionAt.get(time) ?? []);

/** The sessions that were found for a question. */
interface Answer {
  readonly question: LongMemoryQuestion;
  readonly sessions: readonly string[];
}

/** Whether a passage speaks of the thing that the question is about. */
const isAnswered = ({ question }: LongMemoryQuestion, result: string): boolean =>
  [...question.matchAll(/\b(?:the|my) ([a-z]+ [a-z]+)/g)].some(([, thing = '']) => result.includes(thing));

/** `every`: the result has each session of the evidence, and not one of them alone. */
function shareFound(answers: readonly Answer[], every: boolean): number {
  const found = answers.filter(({ question: { answer_session_ids: wanted }, sessions }) =>
    every ? wanted.every((id) => sessions.includes(id)) : wanted.some((id) => sessions.includes(id)),
  );
  return (found.length / Math.max(1, answers.length)) * 100;
}

/** The sessions that a keyword search with BM25 finds, as the published baseline does. */
function createPeer({ docs }: Life): (text: string) => readonly string[] {
  const index = new MiniSearch<{ id: number; text: string }>({ fields: ['text'], storeFields: [] });
  index.addAll(docs.map(({ blocks: [block] }, id) => ({ id, text: block?.kind === 'text' ? block.text : '' })));
  return (text) =>
    index
      .search(text)
      .slice(0, PASSAGES)
      .map(({ id }) => docs[Number(id)]?.sessionId ?? '');
}

export const memoryEvidence = definePart({
  name: 'memory-evidence',
  needs: 'relay',
  full: FULL,
  smoke: SMOKE,
  async run(sizes) {
    const life = lifeOf([...longMemoryQuestions(SEED, sizes)]);
    const search = searchOver(createMemoryLedger(life.docs), createMemoryIndex);
    await search.settled();
    const bench = await openSessionBench();
    try {
      const house = await bench.open();
      const { searches, tools } = house.team;
      searches.listen((asked) => {
        void search.findFor(asked).then((answer) => searches.answer(asked.searchId, 'page', answer));
        return true;
      });
      const recall = tools.find(({ name }) => name === 'recall');
      if (!recall) throw new Error('There is no recall.');
      const caller: Caller = {
        ...{ agentId: AGENT, sessionId: null, run: 'bench', kind: 'run', signal: new AbortController().signal },
      };
      const peer = createPeer(life);
      const answers: Answer[] = [];
      const peers: Answer[] = [];
      const times: number[] = [];
      let [answered, invented] = [0, 0];
      for (const question of life.questions) {
        const began = performance.now();
        const { text } = await recall.run({ query: question.question, limit: PASSAGES }, caller);
        times.push(performance.now() - began);
        const says = isAnswered(question, text);
        if (question.question_id.endsWith('_abs')) {
          if (says) invented += 1;
          continue;
        }
        if (says) answered += 1;
        answers.push({ question, sessions: sessionsIn(text, life) });
        peers.push({ question, sessions: peer(question.question) });
      }
      const least = { kind: 'least', what: '', value: BAR } as const;
      const ofAbility = (ability: string) => answers.filter(({ question }) => question.question_type === ability);
      const figures: Figure[] = [
        { what: 'a session of the evidence is found', value: shareFound(answers, false), unit: '%', beside: least },
        { what: 'every session of the evidence is found', value: shareFound(answers, true), unit: '%', beside: least },
        {
          what: '  against BM25 over the same messages',
          value: shareFound(answers, true),
          unit: '%',
          beside: { kind: 'peer', what: 'MiniSearch, every session', value: shareFound(peers, true) },
        },
        ...ABILITIES.map((ability): Figure => ({
          what: `  ${ability}, every session`,
          value: shareFound(ofAbility(ability), true),
          unit: '%',
          beside: least,
        })),
        {
          what: 'answers of a mind that says what a passage says',
          value: (answered / Math.max(1, answers.length)) * 100,
          unit: '%',
          beside: least,
        },
        {
          what: 'its answers to what was never said',
          value: invented,
          unit: '',
          beside: { kind: 'limit', what: `of ${life.questions.length - answers.length} questions`, value: 0 },
        },
        {
          what: 'an answer of `recall`, p95',
          value: percentile(times, 0.95),
          unit: 'ms',
          beside: { kind: 'limit', what: 'search in Node, without a browser', value: 150 },
        },
      ];
      return {
        title: `LongMemEval’s abilities over ${life.docs.length.toLocaleString('en')} messages`,
        method: `${sizes.questions} questions of seed ${SEED}, asked as they stand; ${PASSAGES} passages of recall`,
        figures,
      };
    } finally {
      await bench.close();
    }
  },
});
