/**
 * The model proxy: `/llm/{credential}/v1/…` is the Messages API for an agent that runs in another
 * program.
 *
 * `body.ts` reads the request, `upstream.ts` sends it, `answer.ts` passes the answer on and counts
 * it, and `translated.ts` serves models that speak another protocol.
 *
 * Main type: `Proxy`.
 *
 * Invariants:
 * - The caller never sees the relay's key.
 * - Every request is reserved in the budgets before it is sent, and settled when it ends.
 * - A request of a sleeping agent waits until the agent is woken, or its time is over.
 * - No byte of a body is changed where the server speaks the Messages API.
 *
 * It does not know the session or the team's tools.
 */
import { z } from 'zod';
import type { Context } from 'hono';
import type { RequestSize } from '../../../src/shared/domain/request-cost.ts';
import type { TeamMember } from '../../../src/shared/protocol/team.ts';
import { realTimers, within } from '../../../src/shared/domain/platform/timers.ts';
import { parseJson } from '../../../src/shared/domain/platform/json.ts';
import { newId } from '../../../src/shared/domain/platform/new-id.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { modelNameFault } from '../../../src/shared/domain/model-names.ts';
import { singleFlight } from '../../../src/shared/domain/platform/single-flight.ts';
import { proxyEndpoints } from '../../../src/shared/protocol/endpoints/models.ts';
import type { ListedModel } from '../../../src/shared/protocol/models.ts';
import type { CallingClient, SessionHost } from '../session/contract.ts';
import type { CostHold, CostRequest, Costs } from '../../team/costs/contract.ts';
import type { Directory } from '../../team/directory/index.ts';
import type { Configs } from '../../team/gate/configs.ts';
import type { Pauses } from '../../team/pauses/index.ts';
import type { Credentials } from '../../access/index.ts';
import { strangersOf } from '../../http/call-rate.ts';
import { answer, type Env, type Handled } from '../../http/endpoint.ts';
import type { Mind } from '../minds/index.ts';
import { OFFICIAL_API } from '../minds/settings.ts';
import {
  createUpstream,
  errorEvent,
  errorResponse,
  event,
  isOfficial,
  PING,
  type ProxyError,
  requestHeaders,
  type Upstream,
  type UpstreamKey,
} from './upstream.ts';
import { type Account, type Ask, createAsk, type ProxyAnswer, wholeAnswer } from './answer.ts';
import { type ProxyBody, readRequest, streamOf } from './body.ts';
import { PROXY_LIMITS } from './settings.ts';
import { createKnownCalls, createTranslator } from './translated.ts';

// Decides whether a request may go to the model: its agent must be awake and the budgets must have
// room, at the same moment.

type Admission =
  | { readonly kind: 'go'; readonly hold: CostHold | null }
  | { readonly kind: 'refused'; readonly error: ProxyError }
  /** The client does not wait any more. */
  | { readonly kind: 'gone' };

interface AdmitDeps {
  readonly pauses: Pick<Pauses, 'isPaused' | 'wait'>;
  readonly costs: Pick<Costs, 'check'>;
  readonly configs: Pick<Configs, 'agent'>;
  readonly sessionId: () => string | null;
  readonly now: () => number;
}

/** `size`: null where it costs nothing. */
type Admit = (request: {
  readonly agent: TeamMember;
  readonly credentialId: string;
  readonly size: RequestSize | null;
  readonly signal: AbortSignal;
}) => Promise<Admission>;

function createAdmit({ pauses, costs, configs, sessionId, now }: AdmitDeps): Admit {
  /** Null: awake. */
  async function rest(
    { agentId, name }: TeamMember,
    since: number,
    signal: AbortSignal,
  ): Promise<Exclude<Admission, { kind: 'go' }> | null> {
    if (!pauses.isPaused(agentId)) return null;
    const { effective } = await configs.agent(agentId);
    const how = await pauses.wait(agentId, { signal, limitMs: since + effective.sleep_wait_seconds * 1_000 - now() });
    switch (how) {
      case 'awake':
        return null;
      case 'late':
        return {
          kind: 'refused',
          error: {
            kind: 'asleep',
            message: `${name} is asleep, try again: the request was held for ${effective.sleep_wait_seconds} s, and nothing was sent to the model.`,
          },
        };
      case 'ended':
        return {
          kind: 'refused',
          error: {
            kind: 'session-ended',
            message: `The session ended while ${name} was asleep; nothing was sent to the model.`,
          },
        };
      case 'aborted':
        return { kind: 'gone' };
      default:
        return how satisfies never;
    }
  }

  async function room(request: CostRequest, signal: AbortSignal): Promise<Admission> {
    try {
      const checked = await costs.check(request, signal);
      return checked.ok
        ? { kind: 'go', hold: checked.hold }
        : { kind: 'refused', error: { kind: 'budget-used-up', message: checked.message } };
    } catch (error) {
      if (signal.aborted) return { kind: 'gone' };
      throw error;
    }
  }

  return async ({ agent, credentialId, size, signal }) => {
    const since = now();
    for (;;) {
      const held = await rest(agent, since, signal);
      if (held) return held;
      const admission: Admission = size
        ? await room({ agentId: agent.agentId, credentialId, size, sessionId: sessionId() }, signal)
        : { kind: 'go', hold: null };
      if (admission.kind !== 'go') return admission;
      // Nothing is awaited between here and the request, so an agent that was just set to sleep
      // sends none.
      if (!signal.aborted && !pauses.isPaused(agent.agentId)) return admission;
      admission.hold?.release();
      if (signal.aborted) return { kind: 'gone' };
    }
  };
}

// A streaming request that waits: its answer has begun, and pings keep it alive until the request
// may go.

type Outcome =
  | { readonly kind: 'answer'; readonly answer: ProxyAnswer }
  | { readonly kind: 'error'; readonly error: ProxyError }
  | { readonly kind: 'gone' };

const refusalShape = z.object({
  type: z.literal('error'),
  error: z.looseObject({ type: z.string(), message: z.string() }),
});

/** An upstream's error comes as JSON. In a stream that has begun it becomes an error event. */
async function* inStream({ status, headers, body }: ProxyAnswer): ProxyAnswer['body'] {
  if (status === 200 && headers['content-type']?.includes('text/event-stream')) return yield* body;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const refused = refusalShape.safeParse(parseJson(Buffer.concat(chunks).toString('utf8')));
  yield refused.success
    ? event('error', refused.data)
    : errorEvent({ kind: 'unreachable', message: `The model’s server answered ${status}, and not with a stream.` });
}

async function* heldAnswer(outcome: Promise<Outcome>, pingMs: number): ProxyAnswer['body'] {
  yield PING;
  for (;;) {
    const decided = await within(realTimers.after, pingMs, outcome);
    if (decided === null) {
      yield PING;
      continue;
    }
    switch (decided.kind) {
      case 'answer':
        return yield* inStream(decided.answer);
      case 'error':
        return yield errorEvent(decided.error);
      case 'gone':
        return;
      default:
        return decided satisfies never;
    }
  }
}

// Running calls, by credential. Revoking a credential ends them.

interface OpenCalls {
  /** The abort reason of a call whose credential was revoked. */
  readonly revoked: Error;
  /**
   * `gone` aborts with the client's signal and with the credential. `done` must be called when the
   * call is over.
   */
  add(credentialId: string, client: AbortSignal): { readonly gone: AbortController; readonly done: () => void };
}

function createOpenCalls(credentials: Pick<Credentials, 'onRevoke'>): OpenCalls {
  const open = new Map<string, Set<AbortController>>();
  const revoked = new Error('the credential was revoked');
  credentials.onRevoke((credentialId) => {
    for (const gone of open.get(credentialId) ?? []) gone.abort(revoked);
  });
  return {
    revoked,
    add(credentialId, client) {
      const leaving = new AbortController();
      const calls = open.get(credentialId) ?? new Set();
      open.set(credentialId, calls.add(leaving));
      const leave = () => leaving.abort(new Error('the client has gone'));
      if (client.aborted) leave();
      else client.addEventListener('abort', leave, { once: true });
      return {
        gone: leaving,
        done() {
          client.removeEventListener('abort', leave);
          calls.delete(leaving);
          if (calls.size === 0 && open.get(credentialId) === calls) open.delete(credentialId);
        },
      };
    },
  };
}

export interface ProxyDeps {
  readonly credentials: Pick<Credentials, 'check' | 'onRevoke'>;
  readonly pauses: Pick<Pauses, 'isPaused' | 'wait'>;
  readonly costs: Costs;
  readonly configs: Pick<Configs, 'agent'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly sessionId: SessionHost['sessionId'];
  readonly joined: SessionHost['joined'];
  readonly clientCalls: SessionHost['clientCalls'];
  /** Left out: no session hatches eggs. */
  readonly newborn?: SessionHost['newborn'];
  /**
   * The server for a request for this model. A null model: any server. Null: no model is connected.
   */
  readonly upstream: (model: string | null) => UpstreamKey | null;
  /**
   * The mind for this model, where its server does not speak the Messages API. Null: the server
   * does, or there is none. Left out: all servers do.
   */
  readonly foreign?: (model: string | null) => Mind | null;
  /** Models that a program sees where no server speaks the Messages API. */
  readonly listed?: () => readonly ListedModel[];
  /** The model that replaces this one, where no connected server has it. Null: the same model. */
  readonly standIn?: (model: string, agentId: AgentId) => string | null;
  readonly now: () => number;
  /** An error of the relay that is reported nowhere else. */
  readonly onError: (error: unknown) => void;
  readonly pingMs?: number;
}

const NO_MODEL: ProxyError = {
  kind: 'no-upstream',
  message:
    'No model is connected to this relay. Connect one on Roost’s page, or set ANTHROPIC_API_KEY (or ANTHROPIC_BASE_URL) where the relay runs.',
};
const BAD_CREDENTIAL: ProxyError = {
  kind: 'bad-credential',
  message:
    'This credential is unknown or revoked. Make a new one on Roost’s page, and use http://…/llm/<credential> as ANTHROPIC_BASE_URL.',
};
const TOO_MANY: ProxyError = {
  kind: 'too-many-calls',
  message: 'Too many unknown credentials were tried from this address. Try again later.',
};
const OF_APPLICATION: ProxyError = {
  kind: 'bad-credential',
  message:
    'This credential is an application’s: it sets agents to sleep and wakes them, and asks no model. Make one for an agent on Roost’s page.',
};
const BROKEN: ProxyError = { kind: 'broken', message: 'The relay had an error. Its log says more.' };
const REVOKED: ProxyError = { kind: 'bad-credential', message: 'This credential was revoked.' };

const noSuchName = (model: string): ProxyError => ({
  kind: 'malformed',
  message: `model: ${JSON.stringify(model)} cannot be the name of a model.`,
});

/** Without it, a client that requests more of the API would be told to sign in. */
const nothing = () =>
  errorResponse({
    kind: 'no-such-call',
    message:
      'Roost forwards /v1/messages, /v1/messages/count_tokens, /v1/models and /v1/models/<model>, below /llm/<credential>.',
  });

/** Statuses of servers that speak the Messages API without its token count. */
const CANNOT_COUNT = new Set([404, 405, 501]);
/** An estimate, which clients use as a guide to how full their conversation is. */
function ownCount({ size }: ProxyBody): ProxyAnswer {
  const tokens = Math.ceil(size.bytes / PROXY_LIMITS.bytesPerToken) + size.pictures * PROXY_LIMITS.tokensPerPicture;
  const bytes = Buffer.from(JSON.stringify({ input_tokens: tokens }));
  return wholeAnswer(200, { 'content-type': 'application/json' }, bytes);
}

/** Parameters of the Messages API that pass. Others could mean anything to another server. */
const PASSED_PARAMETERS = new Set(['beta', 'limit', 'after_id', 'before_id']);

/** The models in the form of the Messages API: the list, or the one that `requestedModel` names. */
function ownList(models: readonly ListedModel[], requestedModel: string | null): ProxyAnswer {
  const data = models.map(({ id, name }) => ({
    ...{ type: 'model', id, display_name: name },
    created_at: '1970-01-01T00:00:00Z',
  }));
  const json = { 'content-type': 'application/json' };
  const one = requestedModel === null ? undefined : data.find(({ id }) => id === requestedModel);
  if (requestedModel !== null && !one) {
    const error = { type: 'not_found_error', message: 'No connected server has this model.' };
    return wholeAnswer(404, json, Buffer.from(JSON.stringify({ type: 'error', error })));
  }
  const list = { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  return wholeAnswer(200, json, Buffer.from(JSON.stringify(one ?? list)));
}

/** One server that requests go to. */
type Line = { readonly to: UpstreamKey; readonly upstream: Upstream; readonly ask: Ask };
type Call = {
  readonly agent: TeamMember;
  /** Null: an ACP agent that the relay started asks, in a run of its agent. */
  readonly client: CallingClient | null;
  readonly credentialId: string;
  /** Null: no server speaks the Messages API. */
  readonly lineOf: (model: string | null) => Line | null;
};

interface Proxy {
  readonly endpoints: readonly Handled[];
  /** Closes idle connections. */
  close(): void;
}

/** The connected servers, each with its connections. */
function createLines(onError: ProxyDeps['onError']) {
  const lines = new Map<string, Line>();
  function of(to: UpstreamKey): Line {
    const baseUrl = to.baseUrl ?? OFFICIAL_API;
    const connection = lines.get(baseUrl);
    if (connection?.to === to) return connection;
    const upstream = createUpstream(baseUrl, PROXY_LIMITS.upstreamSilenceMs, to.createAgent?.());
    const line = {
      to,
      upstream,
      ask: createAsk({ upstream, key: to.key, stopsWhenLeft: to.stopsWhenLeft ?? isOfficial(to), onError }),
    };
    // Running requests end on their own connections.
    connection?.upstream.close();
    lines.set(baseUrl, line);
    return line;
  }
  return {
    of,
    close() {
      for (const { upstream } of lines.values()) upstream.close();
    },
  };
}

function passing(
  context: Context<Env>,
  { status, headers, body, close }: ProxyAnswer,
  leaving: AbortController,
  done: () => void,
): Response {
  const over = async () => {
    done();
    await close();
  };
  return new Response(streamOf(body, context.env.outgoing, leaving, over), {
    status,
    headers: { 'cache-control': 'no-store', 'x-accel-buffering': 'no', ...headers },
  });
}

/**
 * The upstream's path. Nothing of it but a model's name and the known parameters is the client's.
 */
const pathOf = (context: Context<Env>, call: string) => {
  const { searchParams } = new URL(context.req.url);
  const query = new URLSearchParams([...searchParams].filter(([name]) => PASSED_PARAMETERS.has(name))).toString();
  return `/v1${call}${query === '' ? '' : `?${query}`}`;
};

function respond(context: Context<Env>, outcome: Outcome, leaving: AbortController, done: () => void): Response {
  if (outcome.kind === 'answer') return passing(context, outcome.answer, leaving, done);
  done();
  // A client that has disconnected reads nothing.
  return outcome.kind === 'error' ? errorResponse(outcome.error) : new Response(null, { status: 499 });
}

export function createProxy(deps: ProxyDeps): Proxy {
  const { credentials, directory, sessionId, joined, onError, pingMs = PROXY_LIMITS.pingMs } = deps;
  const admit = createAdmit(deps);
  const lines = createLines(onError);
  const open = createOpenCalls(credentials);
  const translate = createTranslator({ known: createKnownCalls(), newId, onError });
  const everybody = singleFlight(() => directory.all());

  /**
   * Identifies the caller and runs the call. `gone` aborts when the client disconnects or the
   * credential is revoked.
   */
  async function called(
    context: Context<Env>,
    run: (call: Call, gone: AbortController, done: () => void) => Promise<Response>,
  ): Promise<Response> {
    const bearer = await credentials.check(context.req.param('credential') ?? '');
    if (bearer === null)
      return errorResponse((context.get('limit')?.(strangersOf(context)) ?? 0) > 0 ? TOO_MANY : BAD_CREDENTIAL);
    if (bearer.agentId === null) return errorResponse(OF_APPLICATION);
    const caller = (await everybody()).find((member) => member.agentId === bearer.agentId);
    const agent = caller ?? (bearer.run ? deps.newborn?.(bearer.agentId)?.member : undefined);
    if (!agent || agent.retired)
      return errorResponse({
        kind: 'no-agent',
        message: agent
          ? `${agent.name} is retired, and may not ask a model.`
          : 'The agent of this credential is no longer in the household.',
      });
    const usual = deps.upstream(null);
    if (usual === null && !deps.foreign?.(null)) return errorResponse(NO_MODEL);
    const { gone, done } = open.add(bearer.credentialId, context.req.raw.signal);
    try {
      const { credentialId } = bearer;
      const client = bearer.run ? null : { credentialId, name: bearer.label, readsInbox: false };
      const forModel = (model: string | null) => {
        const to = deps.upstream(model) ?? usual;
        return to && lines.of(to);
      };
      return await run({ agent, client, credentialId, lineOf: forModel }, gone, done);
    } catch (error) {
      done();
      if (!gone.signal.aborted) onError(error);
      return errorResponse(BROKEN);
    }
  }

  const outcomeOfLeaving = (signal: AbortSignal): Outcome =>
    signal.reason === open.revoked ? { kind: 'error', error: REVOKED } : { kind: 'gone' };

  async function send(
    { agent, credentialId, lineOf: forModel }: Call,
    context: Context<Env>,
    given: ProxyBody,
    costly: boolean,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const standIn = deps.standIn?.(given.size.model, agent.agentId) ?? null;
    const body = standIn === null ? given : given.ofModel(standIn);
    const { model } = body.size;
    // A request that names none is counted as the dearest, and refused by its server.
    if (model !== '' && modelNameFault(model) !== null) return { kind: 'error', error: noSuchName(model) };
    try {
      const admission = await admit({
        agent,
        credentialId,
        size: costly ? body.size : null,
        signal,
      });
      if (admission.kind === 'gone') return outcomeOfLeaving(signal);
      if (admission.kind === 'refused') return { kind: 'error', error: admission.error };
      const foreign = deps.foreign?.(body.size.model) ?? null;
      if (foreign && !costly) return { kind: 'answer', answer: ownCount(body) };
      if (foreign && admission.hold) {
        const told = await translate(foreign, body, { hold: admission.hold, sessionId: sessionId() }, signal);
        if (told.ok) return { kind: 'answer', answer: told.answer };
        return signal.aborted ? outcomeOfLeaving(signal) : { kind: 'error', error: told.error };
      }
      const line = forModel(body.size.model);
      if (line === null) return { kind: 'error', error: NO_MODEL };
      const { ask: sendOn, to: key } = line;
      const account: Account | null = admission.hold && {
        sessionId: sessionId(),
        model: body.size.model,
        stream: body.stream,
        hold: admission.hold,
      };
      const request = {
        method: 'POST',
        path: pathOf(context, costly ? '/messages' : '/messages/count_tokens'),
        headers: requestHeaders(context.req.raw.headers, key),
        body: body.bytes,
        signal,
      } as const;
      const sent = await sendOn(request, account);
      if (sent.ok && !costly && !isOfficial(key) && CANNOT_COUNT.has(sent.answer.status)) {
        await sent.answer.close();
        return { kind: 'answer', answer: ownCount(body) };
      }
      if (sent.ok) return { kind: 'answer', answer: sent.answer };
      return signal.aborted ? outcomeOfLeaving(signal) : { kind: 'error', error: sent.error };
    } catch (error) {
      onError(error);
      return { kind: 'error', error: BROKEN };
    }
  }

  /** `costly`: the request is counted and charged to budgets. */
  const post = (costly: boolean) => (_: unknown, context: Context<Env>) =>
    called(context, async (call, gone, over) => {
      const read = await readRequest(context.req.raw);
      if (!read.ok) return respond(context, { kind: 'error', error: read.error }, gone, over);
      if (call.client) await joined(call.agent, call.client);
      const clientCall = call.client && costly ? deps.clientCalls(call.agent.agentId, null, {}) : null;
      const done = () => {
        clientCall?.();
        over();
      };
      const outcome = send(call, context, read.body, costly, gone.signal);
      const patience = deps.pauses.isPaused(call.agent.agentId) ? 0 : pingMs;
      const decided = read.body.stream ? await within(realTimers.after, patience, outcome) : await outcome;
      if (decided) return respond(context, decided, gone, done);
      const close = async () => {
        const late = await outcome;
        if (late.kind === 'answer') await late.answer.close();
      };
      const headers = { 'content-type': 'text/event-stream; charset=utf-8' };
      return passing(context, { status: 200, headers, body: heldAnswer(outcome, pingMs), close }, gone, done);
    });

  /** `requestedModel`: the model that is described. Null: all are listed. */
  const get = (requestedModel: string | null, context: Context<Env>) =>
    called(context, async ({ agent, credentialId, lineOf: forModel }, gone, done) => {
      if (requestedModel !== null && modelNameFault(requestedModel) !== null)
        return respond(context, { kind: 'error', error: noSuchName(requestedModel) }, gone, done);
      const admission = await admit({ agent, credentialId, size: null, signal: gone.signal });
      if (admission.kind === 'gone') return respond(context, outcomeOfLeaving(gone.signal), gone, done);
      if (admission.kind === 'refused') return respond(context, { kind: 'error', error: admission.error }, gone, done);
      const line = forModel(null);
      if (line === null) {
        const outcome = { kind: 'answer', answer: ownList(deps.listed?.() ?? [], requestedModel) } as const;
        return respond(context, outcome, gone, done);
      }
      const { ask: sendOn, to: key } = line;
      const sent = await sendOn(
        {
          method: 'GET',
          path: pathOf(context, requestedModel === null ? '/models' : `/models/${encodeURIComponent(requestedModel)}`),
          headers: requestHeaders(context.req.raw.headers, key),
          body: null,
          signal: gone.signal,
        },
        null,
      );
      return respond(
        context,
        sent.ok ? { kind: 'answer', answer: sent.answer } : { kind: 'error', error: sent.error },
        gone,
        done,
      );
    });

  return {
    endpoints: answer(proxyEndpoints, {
      llmMessages: post(true),
      llmCountTokens: post(false),
      llmModels: (_, context) => get(null, context),
      llmModel: ({ model }, context) => get(model, context),
      llmOtherGet: nothing,
      llmOtherPost: nothing,
    }),
    close: lines.close,
  };
}

/** The model proxy for agents in other programs. */
