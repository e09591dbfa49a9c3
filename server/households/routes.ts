/** Routes each call to a home, and has the endpoints with which a browser asks for one. */
import type { Context } from 'hono';
import type { Endpoint } from '../../src/shared/protocol/endpoints/endpoint.ts';
import { homeEndpoints, sessionEndpoints } from '../../src/shared/protocol/endpoints/session.ts';
import { bearerOf, type GiveBeside } from '../access/index.ts';
import { answer, browserOf, refuseHead, type Env, type Handled } from '../http/endpoint.ts';
import { problem } from '../http/problem.ts';
import type { Homes } from './index.ts';
import { notBegun } from './registry.ts';
import type { OpenHome } from './open-home.ts';
import { streamResponse } from './session-routes.ts';

/**
 * The caller's home. A first write begins it. Throws a problem where the person must be asked
 * first.
 */
async function homeOf(homes: Homes, endpoint: Endpoint, context: Context<Env>): Promise<OpenHome> {
  const browser = context.get('browser');
  if (browser === undefined) return await homes.ofSecret(bearerOf(context) ?? '');
  if (endpoint === sessionEndpoints.events) {
    const log = context.req.query('log') ?? '';
    if (log !== '') await homes.comesBack(browser, log);
  } else if (endpoint.method !== 'GET' && endpoint.beginsNothing !== true) {
    const begun = await homes.begin(browser);
    if (!begun.ok) throw notBegun(begun.reason);
  }
  return await homes.of(browser);
}

/** For endpoints that check a credential themselves: in the path, or as bearer. */
async function homeOfSecret(homes: Homes, context: Context<Env>): Promise<OpenHome> {
  const inPath = /^\/llm\/([^/]+)/.exec(context.req.path)?.[1];
  return await homes.ofSecret(inPath ?? bearerOf(context) ?? '');
}

/**
 * Every home has all of these endpoints. The app has each once and passes it to the caller's home.
 */
export function createEachHome(homes: Homes): readonly Handled[] {
  return [...homes.first().endpoints.keys()].map((endpoint) => ({
    endpoint,
    async handle(context) {
      const home =
        endpoint.access === 'credential' ? await homeOfSecret(homes, context) : await homeOf(homes, endpoint, context);
      const handled = home.endpoints.get(endpoint);
      if (!handled) throw new Error(`a home has no ${endpoint.method} ${endpoint.path}`);
      const response = await handled.handle(context);
      // A sign-in may move to another home while its stream is being opened. The stream would then
      // follow the old home for ever.
      const browser = context.get('browser');
      if (endpoint === sessionEndpoints.events && browser !== undefined && (await homes.of(browser)) !== home)
        home.streams.endOf([browser], 'moved');
      return response;
    },
  }));
}

export function createHomeRoutes(homes: Homes, giveBeside: GiveBeside): readonly Handled[] {
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
  return answer(homeEndpoints, {
    home: async (_, context) => await homes.standing(browserOf(context)),
    async beginHome({ body }, context) {
      const begun = await homes.beginHousehold(browserOf(context), body);
      if (!begun.ok) throw notBegun(begun.reason);
      return await homes.standing(begun.beside ? await giveBeside(context) : browserOf(context));
    },
    async lookedAt(_, context) {
      const { directory } = await lookedAt(context);
      return {
        agents: (await directory.all())
          .filter(({ retired }) => !retired)
          .map(({ agentId, name, position }) => ({ agentId, name, position })),
      };
    },
    async lookEvents(_, context) {
      refuseHead(context);
      const { streams } = await lookedAt(context);
      homes.checkStreams(context.get('browser'));
      const { outgoing } = context.env;
      return streamResponse(streams.look(() => outgoing.destroy(), browserOf(context)));
    },
  });
}
