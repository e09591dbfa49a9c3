/**
 * How much an answer may have, and whether there is room for tools, for models that read little. A
 * server that counts what is sent and what is written together refuses a request for the answer
 * that it asks for. The answer is then asked for in what is left. What the server says of its
 * limits is kept while the relay runs.
 */
import { plainTools } from './wire.ts';
import type { MindRequest } from '../../contracts/mind.ts';
import { ROOM_LIMITS } from './settings.ts';
import { sizeOfRequest } from './size.ts';
import { limitsIn } from './token-limits.ts';
import type { Shape } from './wire.ts';

export type RoomShape = Pick<Shape, 'maxTokens' | 'toolless'>;

export interface Room {
  first(model: string, request: MindRequest, toolless: boolean): RoomShape;
  /**
   * After a refusal. `too-long`: what is sent has to be shorter. Null: it was refused for something
   * else.
   */
  less(shape: RoomShape, said: string, request: MindRequest): RoomShape | 'too-long' | null;
  /** Tools were left out because there is no room for them. */
  isCause(model: string, request: MindRequest): boolean;
}

interface Known {
  window: number | null;
  output: number | null;
  bytesPerToken: number;
}

export function createRoom(): Room {
  const models = new Map<string, Known>();
  const known = (model: string): Known => {
    const there = models.get(model);
    if (there) return there;
    const made: Known = { window: null, output: null, bytesPerToken: ROOM_LIMITS.bytesPerToken };
    models.set(model, made);
    return made;
  };
  const bytesOf = (request: MindRequest, toolless: boolean) =>
    sizeOfRequest({ ...request, tools: toolless ? [] : request.tools }, false).bytes;

  /** Whether tools alone would fill what the model reads. */
  function isCrowded({ window, bytesPerToken }: Known, request: MindRequest): boolean {
    const bytes = Buffer.byteLength(JSON.stringify(plainTools(request.tools, { toolless: false })));
    return window !== null && request.tools.length > 0 && bytes / bytesPerToken > window * ROOM_LIMITS.toolsMost;
  }

  function fit(model: string, request: MindRequest, toolless: boolean): number {
    const { window, output, bytesPerToken } = known(model);
    const left = window === null ? Infinity : window - Math.ceil(bytesOf(request, toolless) / bytesPerToken);
    // Reckoned, and so not believed where it leaves nothing: the server says it better.
    return Math.min(output ?? Infinity, Math.max(left, ROOM_LIMITS.leastAnswer));
  }

  return {
    first(model, request, without) {
      const toolless = without || isCrowded(known(model), request);
      return { toolless, maxTokens: fit(model, request, toolless) };
    },
    isCause: (model, request) => isCrowded(known(model), request),
    less({ toolless, maxTokens }, said, request) {
      const asked = Math.min(request.maxTokens, maxTokens);
      const limits = limitsIn(said, asked);
      if (!limits) return null;
      const of = known(request.model);
      const { window, input, isLeast, output } = limits;
      if (output !== null && output > 0) {
        of.output = output;
        return output < asked ? { toolless, maxTokens: output } : null;
      }
      if (window === null || window <= 0) return null;
      of.window = window;
      const bytes = bytesOf(request, toolless);
      if (input !== null && input > 0 && !isLeast) of.bytesPerToken = Math.max(1, bytes / input);
      if (!toolless && isCrowded(of, request)) return { toolless: true, maxTokens: fit(request.model, request, true) };
      const counted = input === null || isLeast ? Math.ceil(bytes / of.bytesPerToken) : input;
      const left = window - counted;
      // Halved at least: a server that is wrong about its own count is not asked for ever.
      const next = left < asked ? left : Math.floor(asked / 2);
      return next < ROOM_LIMITS.leastAnswer ? 'too-long' : { toolless, maxTokens: next };
    },
  };
}
