/** The calls that a page needs from its first moment: relay, home and session. */
import { homeEndpoints, relayEndpoints, sessionEndpoints } from '../protocol/endpoints/session.ts';
import { createRelayClient, type RelayClient, type RelayClientDeps } from './client.ts';

const endpoints = { ...relayEndpoints, ...homeEndpoints, ...sessionEndpoints };

export type PageClient = RelayClient<typeof endpoints>;
export const createPageClient = (deps: RelayClientDeps): PageClient => createRelayClient(endpoints, deps);
