/** The relay's calls, each answered by a typed value: the relay's answer, or what went wrong and what to do. */
import type { z } from 'zod';
import {
  healthSchema,
  messagePostedSchema,
  rehearsalSchema,
  sessionStartedSchema,
  homeStandingSchema,
  lookedAtSchema,
  type Health,
  type BeginHome,
  type HomeStanding,
  type LookedAt,
  type PostMessage,
  type Rehearsal,
  type StartSession,
} from '../protocol/http.ts';
import type { StreamItem } from './event-stream.ts';
import type { RelayResult } from './problem.ts';
import { createSender, type SendDeps, type SentCall } from './send.ts';
import { RELAY_TIMES } from './settings.ts';

export interface RelayClientDeps extends SendDeps {
  /** Time-outs in ms; for tests. */
  readonly times?: { readonly call: number; readonly postMessage: number };
}

export interface RelayClient {
  health(): Promise<RelayResult<Health>>;
  startSession(request: StartSession): Promise<RelayResult<{ readonly sessionId: string }>>;
  /** Ends the session that runs; `refused` with 409 where none does. */
  endSession(): Promise<RelayResult<null>>;
  postMessage(message: PostMessage): Promise<RelayResult<{ readonly eventId: number }>>;
  /** Stops what this agent is saying. */
  stop(agentId: string): Promise<RelayResult<null>>;
  /** Puts one agent to sleep, or gives up one egg. */
  sleep(agentId: string): Promise<RelayResult<null>>;
  /** How the rehearsal mind is told to behave; `refused` with 404 where a real mind is in use. */
  getRehearsal(): Promise<RelayResult<Rehearsal>>;
  putRehearsal(rehearsal: Rehearsal): Promise<RelayResult<Rehearsal>>;
  /** How this browser stands to the households of the relay. */
  home(): Promise<RelayResult<HomeStanding>>;
  /** Begins a household. `beside`: also where others live there; without it that is `refused` with 409. */
  beginHome(how: BeginHome): Promise<RelayResult<HomeStanding>>;
  /** Who lives in the one household of others. */
  lookedAt(): Promise<RelayResult<LookedAt>>;
  /** What is said there from now on. Returns the way to stop. */
  look(listener: (item: StreamItem) => void): () => void;
  /** Everything up to this event is stored in this browser. */
  ack(upTo: number): Promise<RelayResult<null>>;
}

export function createRelayClient({ fetch, baseUrl, times = RELAY_TIMES }: RelayClientDeps): RelayClient {
  const sender = createSender({ fetch, baseUrl });
  type Call = Omit<SentCall, 'timeout'> & { readonly timeout?: number };
  const answered = <Value>(call: Call, schema: z.ZodType<Value>) =>
    sender.answered({ timeout: times.call, ...call }, schema);
  const done = (call: Call) => sender.done({ timeout: times.call, ...call });

  const agent = (agentId: string) => `/api/agents/${encodeURIComponent(agentId)}`;

  return {
    health: () => answered({ method: 'GET', path: '/api/health' }, healthSchema),
    startSession: (body) =>
      answered({ method: 'POST', path: '/api/sessions', body, timeout: times.postMessage }, sessionStartedSchema),
    endSession: () => done({ method: 'DELETE', path: '/api/sessions/current' }),
    postMessage: (body) =>
      answered({ method: 'POST', path: '/api/messages', body, timeout: times.postMessage }, messagePostedSchema),
    stop: (agentId) => done({ method: 'POST', path: `${agent(agentId)}/stop` }),
    sleep: (agentId) => done({ method: 'POST', path: `${agent(agentId)}/sleep` }),
    getRehearsal: () => answered({ method: 'GET', path: '/api/rehearsal' }, rehearsalSchema),
    putRehearsal: (body) => answered({ method: 'PUT', path: '/api/rehearsal', body }, rehearsalSchema),
    home: () => answered({ method: 'GET', path: '/api/home' }, homeStandingSchema),
    beginHome: (how) => answered({ method: 'POST', path: '/api/home', body: how }, homeStandingSchema),
    lookedAt: () => answered({ method: 'GET', path: '/api/look' }, lookedAtSchema),
    look(listener) {
      let stop: (() => void) | null = null;
      let over = false;
      // Few look on: what it takes is fetched then.
      void import('./look.ts').then(
        ({ openLook }) => {
          if (!over) stop = openLook({ fetch, baseUrl }, listener);
        },
        () => listener({ kind: 'lost', reason: 'unreachable' }),
      );
      return () => {
        over = true;
        stop?.();
      };
    },
    ack: (upTo) => done({ method: 'POST', path: '/api/events/ack', body: { upTo } }),
  };
}
