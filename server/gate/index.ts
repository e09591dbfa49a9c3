/** The wake gate: what may wake whom, what was decided, and the settings it keeps to. */
export { createConfigs, writeConfig, type ConfigsDeps, type OpenConfigs } from './configs.ts';
export { createGate, type GateDeps, type OpenGate } from './gate.ts';
export { createGateRoutes, type GateRoutesDeps } from './routes.ts';
export { agentOfScope, HOUSEHOLD_SCOPE, PRICES_SCOPE, scopeOf } from './scopes.ts';
