export { createAnthropicMind, createServedMind, type AnthropicMindConfig } from './served.ts';
export { createRehearsalMind, type RehearsalMind } from './rehearsal/index.ts';
export {
  isRehearsal,
  tookOf,
  PRIORITIES,
  type AgentMind,
  type MindListener,
  type MindOwner,
  type Mind,
  type MindAnswer,
  type MindBlock,
  type MindError,
  type MindErrorKind,
  type MindMessage,
  type MindRequest,
  type MindTool,
  type Priority,
  type RequestState,
  type StopReason,
} from '../../contracts/mind.ts';
export { withWholeWeb } from './web.ts';
export { sizeOfRequest } from './size.ts';
export { toldTools } from './tool-params.ts';
export { DEFAULT_MODELS, windowTokensOf } from './settings.ts';
export { withWarmMind } from './warm.ts';
