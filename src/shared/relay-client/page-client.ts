/** What a page asks from its first moment on: the relay itself, its home, its session. */
import { homeEndpoints, relayEndpoints, sessionEndpoints } from '../protocol/endpoints/session.ts';
import { createRelayClient, type RelayClient, type RelayClientDeps } from './client.ts';

const endpoints = { ...relayEndpoints, ...homeEndpoints, ...sessionEndpoints };

export type PageClient = RelayClient<typeof endpoints>;
export const createPageClient = (deps: RelayClientDeps): PageClient => createRelayClient(endpoints, deps);
