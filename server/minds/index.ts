export { createAnthropicMind, type AnthropicMindConfig, type KeyHeader } from './anthropic.ts';
export { createRehearsalMind, type RehearsalMind } from './rehearsal/index.ts';
export type { Mind, MindAnswer, MindBlock, MindError, MindListener, MindMessage, MindRequest, MindTool, StopReason } from './mind.ts';
export { DEFAULT_MODELS, REHEARSAL_MODEL } from './settings.ts';
