/** Which home a call goes to, and the calls by which a browser asks for one. */
import type { Context } from 'hono';
import { beginHomeSchema, type HomeStanding, type LookedAt } from '../../src/protocol/http.ts';
import { bearerOf } from '../access/index.ts';
import { readBody } from '../body.ts';
import { problem } from '../problem.ts';
import type { Env, Routes } from '../route.ts';
import type { CallTable } from './calls.ts';
import type { Begun, Homes } from './index.ts';
import { refuseHead, streamResponse } from './session-routes.ts';

export function notBegun(reason: Extract<Begun, { ok: false }>['reason']) {
  return reason === 'others'
    ? problem(
        409,
        'not-begun',
        'Another household lives at this relay. Join it from one of its devices, or begin a household of your own beside it.',
      )
    : problem(
        409,
        'households-full',
        'This relay keeps as many households as it may. Its owner can set --households higher.',
      );
}

const browserOf = (context: Context<Env>): string => {
  const browser = context.get('browser');
  if (browser === undefined)
    throw problem(
      401,
      'not-signed-in',
      'This browser is not let in. Open the link that Roost printed when it started.',
    );
  return browser;
};

/** These write nothing by themselves: who has only looked in has not begun to live anywhere. */
const WRITES_NOTHING = new Set(['/api/events/ack', '/api/team', '/api/records/compare']);

/** The calls of the caller's home. A first write begins it; throws a problem where the person must be asked before. */
export async function homeCallsOf(homes: Homes, context: Context<Env>): Promise<CallTable> {
  const browser = context.get('browser');
  const { method, path } = context.req;
  if (browser === undefined) return (await homes.ofSecret(bearerOf(context) ?? '')).calls;
  if (path === '/api/events') {
    const log = context.req.query('log') ?? '';
    if (log !== '') await homes.comesBack(browser, log);
  } else if (method !== 'GET' && method !== 'HEAD' && !WRITES_NOTHING.has(path)) {
    const begun = await homes.begin(browser);
    if (!begun.ok) throw notBegun(begun.reason);
  }
  return (await homes.of(browser)).calls;
}

/** The calls that ask for a credential themselves: in the path, or as bearer. */
export async function openCallsOf(homes: Homes, context: Context<Env>): Promise<CallTable> {
  const inPath = /^\/llm\/([^/]+)/.exec(context.req.path)?.[1];
  return (await homes.ofSecret(inPath ?? bearerOf(context) ?? '')).openCalls;
}

export function createHomeRoutes(homes: Homes, checkStreams: (browser: string | undefined) => void): Routes {
  async function lookedAt(context: Context<Env>) {
    const home = await homes.lookedAt(browserOf(context));
    if (home === null)
      throw problem(
        409,
        'no-look',
        'There is nothing here to look at: this browser has a household of its own, or none lives here, or several do.',
      );
    return home;
  }
  return (route) => {
    route('/api/home', {
      GET: async (context) => context.json((await homes.standing(browserOf(context))) satisfies HomeStanding),
      async POST(context) {
        const how = await readBody(context, beginHomeSchema);
        const begun = await homes.beginHousehold(browserOf(context), how);
        if (!begun.ok) throw notBegun(begun.reason);
        return context.json((await homes.standing(browserOf(context))) satisfies HomeStanding);
      },
    });
    route('/api/look', {
      async GET(context) {
        const { directory } = await lookedAt(context);
        const answer: LookedAt = {
          agents: (await directory.all())
            .filter(({ retired }) => !retired)
            .map(({ agentId, name, position }) => ({ agentId, name, position })),
        };
        return context.json(answer);
      },
    });
    route('/api/look/events', {
      async GET(context) {
        refuseHead(context);
        const { streams } = await lookedAt(context);
        checkStreams(context.get('browser'));
        const { outgoing } = context.env;
        return streamResponse(streams.look(() => outgoing.destroy(), browserOf(context)));
      },
    });
  };
}
