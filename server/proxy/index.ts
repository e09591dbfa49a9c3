/** The model proxy for agents that run elsewhere. */
export { createProxy, type Proxy, type ProxyDeps } from './routes.ts';
