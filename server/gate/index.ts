/** The wake gate: what may wake whom, what was decided, and the settings it keeps to. */
export { createConfigs, writeConfig, type OpenConfigs } from './configs.ts';
export { createGate, type GateDeps } from './gate.ts';
export { createGateRoutes } from './routes.ts';
export { agentOfScope, HOUSEHOLD_SCOPE, PRICES_SCOPE, scopeOf } from './configs.ts';
