/** The model proxy for agents that run elsewhere. */
export { createProxy, type ProxyDeps } from './routes.ts';
