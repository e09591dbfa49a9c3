/** What attacks have in common: who is attacked, how calls are made, and what counts as a fault. */
import { createRandom } from '../../support/random.ts';
import { rawRequest, type RawResponse } from '../../support/raw-http.ts';
import { headersOf, type SignIn } from '../../support/sign-in.ts';
import type { Part } from '../../support/scripted-model.ts';
import type { HostileServers } from './servers.ts';

/** All that an attacker is given; it travels to another process. */
export interface Target {
  readonly url: string;
  readonly port: number;
  /** Of the household from which attacks come. */
  readonly second: SignIn;
  /** Of the household that is attacked: only for what its person is talked into. */
  readonly first: SignIn;
  /** A credential for an agent of the second one. */
  readonly credential: string;
  /** Ids of things of the first household, as somebody may have heard of them. */
  readonly ids: readonly string[];
  /** Words and keys of the first household that nobody else may ever read. */
  readonly secrets: readonly string[];
}

/** One kind of attack. A new one is a file in `attacks`, and a line in its index. */
export interface Attack {
  readonly name: string;
  /** It needs the second household's session, of which there is one. */
  readonly inSession?: true;
  /** One round of it, of a few seconds at most. Everything that it makes up comes from `random`. */
  run(attacker: Attacker): Promise<void>;
}

interface CallOptions {
  readonly json?: unknown;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

export interface Attacker {
  readonly target: Target;
  readonly servers: HostileServers;
  random(): number;
  of<Value>(list: readonly Value[]): Value;
  /** A whole number from the first to the second, both included. */
  int(from: number, to: number): number;
  bytes(count: number): Buffer;
  /** A call as the second household's page makes it. Null: it was given up at the end. */
  call(method: string, path: string, options?: CallOptions): Promise<RawResponse | null>;
  /** As the first household's page makes it, for what its person is talked into. */
  talkedInto(method: string, path: string, options?: CallOptions): Promise<RawResponse | null>;
  /** The same without any sign-in. */
  bare(method: string, path: string, options?: CallOptions): Promise<RawResponse | null>;
  /** What must not be. */
  found(sentence: string): void;
  /**
   * The lead of the second household is spoken to, and its model does this, turn by turn. Resolves
   * with what its calls answered.
   */
  drive(...turns: readonly (readonly Part[])[]): Promise<readonly string[]>;
  /**
   * A session of the second household with this model of its own. False: it could not be begun just
   * now.
   */
  begin(model: 'scripted' | 'odd'): Promise<boolean>;
}

export interface AttackerDeps {
  readonly target: Target;
  readonly servers: HostileServers;
  readonly seed: number;
  readonly found: (sentence: string) => void;
  /** Each call's status. */
  readonly onAnswer?: (status: number) => void;
}

/** ms in which every call has an answer, whatever it is. */
const ANSWER_MS = 60_000;
const TURN_MS = 20_000;
/** Of this machine; whoever is honest comes from the usual one. macOS has no other. */
export const FROM = process.platform === 'linux' ? '127.0.0.9' : '127.0.0.1';

export function createAttacker({ target, servers, seed, found, onAnswer }: AttackerDeps): Attacker {
  const random = createRandom(seed);
  const int = (from: number, to: number) => from + Math.floor(random() * (to - from + 1));
  const host = `127.0.0.1:${target.port}`;

  async function send(
    own: Readonly<Record<string, string>>,
    method: string,
    path: string,
    { json, body, headers = {}, timeoutMs = ANSWER_MS }: CallOptions = {},
  ): Promise<RawResponse | null> {
    const sent = json === undefined ? body : JSON.stringify(json);
    const asked = `${method} ${path.slice(0, 200)} ${typeof sent === 'string' ? sent.slice(0, 300) : ''}`;
    try {
      const answer = await rawRequest({
        port: target.port,
        path,
        method,
        headers: { host, ...own, ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(sent === undefined ? {} : { body: sent }),
        timeoutMs,
        from: FROM,
      });
      onAnswer?.(answer.status);
      if (answer.status >= 500 && answer.status !== 503)
        found(`${answer.status} to ${asked}: ${answer.text.slice(0, 300)}`);
      for (const secret of target.secrets)
        if (answer.text.includes(secret)) found(`a secret of the first household in the answer to ${asked}`);
      return answer;
    } catch (error) {
      // A body that is refused may have its connection ended before it is sent whole.
      const isCut = error instanceof Error && /ECONNRESET|EPIPE|socket hang up/.test(`${error.message}`);
      if (!isCut || body === undefined) found(`${String(error)} at ${asked}`);
      return null;
    }
  }
  const call: Attacker['call'] = (method, path, options) => send(headersOf(target.second), method, path, options);

  async function begin(model: 'scripted' | 'odd'): Promise<boolean> {
    await call('DELETE', '/api/sessions/current');
    const lead = { name: 'Mordred', soul: 'I am Mordred.', transcript: null };
    const settings = { leadModel: model, agentModel: model, idleMs: 60_000 };
    const begun = await call('POST', '/api/sessions', { json: { human: { name: 'Mal' }, lead, settings } });
    return begun?.status === 201;
  }

  return {
    target,
    servers,
    random,
    of(list) {
      const one = list[Math.floor(random() * list.length)];
      if (one === undefined) throw new Error('The list is empty.');
      return one;
    },
    int,
    bytes: (count) => Buffer.from(Array.from({ length: count }, () => int(0, 255))),
    call,
    talkedInto: (method, path, options) => send(headersOf(target.first), method, path, options),
    bare: (method, path, options) => send({}, method, path, options),
    found,
    begin,
    async drive(...turns) {
      if (!(await begin('scripted'))) return [];
      const asked = servers.model.requests.length;
      servers.model.follow(({ body }) => {
        const at = body.messages.filter(({ role }) => role === 'assistant').length;
        return turns[at] ?? [{ say: 'Done.' }];
      });
      await call('POST', '/api/messages', { json: { text: 'Go on.', clientId: `c-${random()}` } });
      const own = () => servers.model.requests.slice(asked);
      for (const until = Date.now() + TURN_MS; own().length <= turns.length && Date.now() < until;)
        await new Promise((resolve) => setTimeout(resolve, 50));
      return own().flatMap(({ results }) => results);
    },
  };
}
