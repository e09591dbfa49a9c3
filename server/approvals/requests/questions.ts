/**
 * Asks questions one after another, also where two processes share one store. Otherwise each
 * process could take the last free place.
 */
import { createQueue } from '../../../src/shared/domain/platform/queue.ts';
import { checkForm, type Given, type Misfit } from '../../../src/shared/domain/question-form.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { lockNamed } from '../../store/dialect.ts';
import type { HomeStore } from '../../store/index.ts';
import type { AskPerson, PersonAnswer } from './contract.ts';
import type { Caller } from '../../tools/index.ts';
import type { AskedContent, CallRows, StoredCall, NewCall } from './rows.ts';
import { CALL_LIMITS } from './settings.ts';
import { TOO_MANY_FORMS, TURN_OVER, WITHDRAWN } from './notify-agent.ts';

interface QuestionOptions {
  /** Whether the new question may join this waiting one, which asks the same. Left out: always. */
  readonly mayBe?: (one: StoredCall) => boolean;
  /** Whether the new question replaces this waiting one. Left out: never. */
  readonly replaces?: (one: StoredCall) => boolean;
  /** Receives the id before anybody can answer. */
  readonly before?: (callId: string) => void;
}

/**
 * The id under which the question waits: its own, or that of a waiting question that asks the same.
 * Null: too many questions of this agent wait. Questions that the relay asks by itself do not
 * count.
 */
export type Question = (
  call: NewCall,
  text: string,
  content: AskedContent,
  options?: QuestionOptions,
) => Promise<string | null>;

interface QuestionDeps extends HomeStore {
  readonly rows: Pick<CallRows, 'add' | 'open' | 'close'>;
}

export function createQuestion({ db, home, rows }: QuestionDeps): Question {
  const inTurn = createQueue();
  return (call, text, content, { mayBe = () => true, replaces = () => false, before = () => undefined } = {}) =>
    inTurn(() =>
      db.transaction().execute(async (trx) => {
        await lockNamed(trx, `questions of ${home}`);
        const own = (await rows.open(trx)).filter(({ agentId }) => agentId === call.agentId);
        const same = own.find(
          (each) =>
            !each.question &&
            each.tool === call.tool &&
            each.input === text &&
            each.folder === call.folder &&
            mayBe(each),
        );
        const left = own.filter((each) => each === same || each.question || !replaces(each));
        const counted = left.filter(({ where }) => where !== 'relay');
        if (!same && call.place !== 'relay' && counted.length >= CALL_LIMITS.openPerAgent) return null;
        const callId = same?.callId ?? call.callId;
        before(callId);
        for (const each of own)
          if (!left.includes(each)) await rows.close(each.callId, 'withdrawn', WITHDRAWN.replaced, call.askedAt, trx);
        if (!same) await rows.add(call, 'asked', null, null, content, trx);
        return callId;
      }),
    );
}

// Questions of MCP servers that the person answers in a form. Each is a row like any other
// question, so it appears on the page, in the header and on the phone. The server waits within a
// call, so the question cannot outlive its relay. The next start withdraws leftover questions. The
// person's input is in no row, event or log. It goes to the server alone. The activity stores only
// the names of the fields, because Roost has no use for the values and some are private.
//
//   asked → done (sent) | declined | withdrawn (nobody answered in time, or nobody waits any more)

interface FormsDeps {
  readonly rows: Pick<CallRows, 'close' | 'sent' | 'unsent'>;
  readonly question: Question;
  readonly newCall: (tool: string, input: unknown, caller: Caller) => NewCall;
  readonly changed: (agentId: AgentId) => void;
  readonly counted: () => void;
  /** The caller does not wait for this work. `what` is logged where it fails. */
  readonly beside: (work: Promise<unknown>, what: string) => void;
  readonly closing: AbortSignal;
  readonly now: () => number;
}

type Sent = 'sent' | 'over' | { readonly misfit: string };

interface Forms {
  readonly ask: AskPerson;
  /** Checks the person's input and sends it to the server that waits for it. */
  send(call: StoredCall, given: Given): Promise<Sent>;
  /** The question was declined or withdrawn. True: a server waited for it. */
  end(callId: string, action: 'decline' | 'cancel'): boolean;
}

const WRONG: Readonly<Record<Misfit, string>> = {
  missing: 'has to be filled in',
  kind: 'is of another kind',
  short: 'is too short',
  long: 'is too long',
  email: 'has to be an e-mail address',
  uri: 'has to be an address with its scheme',
  date: 'has to be a date',
  'date-time': 'has to be a date with a time and its zone',
  whole: 'has to be a whole number',
  low: 'is too small',
  high: 'is too large',
  option: 'has to be one of its options',
  few: 'has too few options chosen',
  many: 'has too many options chosen',
  unknown: 'is no field of this form',
};
/** Never contains the person's input: error texts are logged. */
const misfitText = (misfits: readonly (readonly [string, Misfit])[]) =>
  misfits.map(([name, misfit]) => `“${name.slice(0, CALL_LIMITS.fieldChars)}” ${WRONG[misfit]}.`).join(' ');

export function createForms(deps: FormsDeps): Forms {
  const { rows, question: place, newCall, changed, counted, beside, closing, now } = deps;
  /** Waiting calls by question. */
  const waiters = new Map<string, (answer: PersonAnswer) => void>();
  function end(callId: string, answer: PersonAnswer): boolean {
    const tell = waiters.get(callId);
    waiters.delete(callId);
    tell?.(answer);
    return tell !== undefined;
  }

  return {
    async ask({ tool, question, caller, signal }) {
      const { agentId } = caller;
      const call = { ...newCall(tool, {}, caller), question };
      let tell: (answer: PersonAnswer) => void = () => undefined;
      const answered = new Promise<PersonAnswer>((resolve) => (tell = resolve));
      const wait = (own: string) => void waiters.set(own, tell);
      const { callId } = call;
      const isPlaced = await place(call, '{}', { now: null, before: null }, { mayBe: () => false, before: wait }).catch(
        (error: unknown) => {
          waiters.delete(callId);
          throw error;
        },
      );
      if (isPlaced === null) throw new Error(TOO_MANY_FORMS);
      changed(agentId);
      const over = AbortSignal.any([signal, caller.signal, closing]);
      const withdraw = () => {
        if (!end(callId, { action: 'cancel' })) return;
        const why = closing.aborted
          ? WITHDRAWN.restarted
          : caller.signal.aborted
            ? TURN_OVER
            : typeof signal.reason === 'string'
              ? signal.reason
              : WITHDRAWN.unneeded;
        beside(
          rows.close(callId, 'withdrawn', why, now()).then(() => changed(agentId)),
          'A question of an MCP server could not be withdrawn.',
        );
      };
      if (over.aborted) withdraw();
      else over.addEventListener('abort', withdraw, { once: true });
      try {
        return await answered;
      } finally {
        over.removeEventListener('abort', withdraw);
      }
    },
    async send(call, given) {
      const { callId, agentId, question } = call;
      if (!question) return 'over';
      const checked = checkForm(question.fields, given);
      if (!checked.ok) return { misfit: misfitText(checked.misfits) };
      if (!waiters.has(callId)) {
        await rows.close(callId, 'withdrawn', WITHDRAWN.unneeded, now());
        changed(agentId);
        return 'over';
      }
      const titles = Object.keys(checked.content).map((name) => `“${name}”`);
      const text =
        titles.length === 0
          ? sentence`You agreed, and sent the server no fields.`
          : sentence`You sent the server these fields: ${titles.join(', ')}`;
      // If two devices answer, only one finds the question waiting.
      if (!(await rows.sent(callId, { text, isError: false }, now()))) return 'over';
      changed(agentId);
      counted();
      if (end(callId, { action: 'accept', content: checked.content })) return 'sent';
      // The question was withdrawn during the write. The server received nothing.
      await rows.unsent(callId, WITHDRAWN.unneeded);
      changed(agentId);
      return 'over';
    },
    end: (callId, action) => end(callId, { action }),
  };
}
