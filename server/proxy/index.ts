/** The model proxy for agents that run elsewhere. */
export { createProxyRoutes, type ProxyDeps } from './routes.ts';
