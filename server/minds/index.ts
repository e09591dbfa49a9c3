export { createAnthropicMind, type AnthropicMindConfig, type KeyHeader } from './anthropic.ts';
export { createRehearsalMind, type RehearsalMind } from './rehearsal/index.ts';
export {
  PRIORITIES,
  type Mind,
  type MindAnswer,
  type MindBlock,
  type MindError,
  type MindErrorKind,
  type MindListener,
  type MindMessage,
  type MindRequest,
  type MindTool,
  type Priority,
  type RequestState,
  type StopReason,
} from './mind.ts';
export { sizeOfRequest } from './size.ts';
export { DEFAULT_MODELS, REHEARSAL_MODEL, windowTokensOf } from './settings.ts';
export { withWarmMind } from './warm.ts';
