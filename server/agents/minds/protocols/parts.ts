/** The stream of the AI SDK as the events that all protocols share. */
import type { LanguageModelV3StreamPart, SharedV3ProviderMetadata } from '@ai-sdk/provider';
import type { Protocol } from '../../../../src/shared/protocol/models.ts';
import { UnreadableAnswer } from '../event-reader.ts';
import type { Sealed } from '../../../contracts/mind.ts';
import type { WireEvent } from '../wire-events.ts';

type Finish = Extract<LanguageModelV3StreamPart, { type: 'finish' }>;

/** The words of the Messages API for it, which the assembly reads. */
function reasonOf({ finishReason }: Finish): string {
  switch (finishReason.unified) {
    case 'length':
      return 'max_tokens';
    case 'content-filter':
      return 'refusal';
    case 'tool-calls':
      return 'tool_use';
    case 'stop':
    case 'other':
    case 'error':
      return 'end_turn';
    default:
      return finishReason.unified satisfies never;
  }
}

const usageOf = ({ usage: { inputTokens, outputTokens } }: Finish) => ({
  input_tokens: inputTokens.noCache ?? inputTokens.total,
  output_tokens: outputTokens.total,
  cache_read_input_tokens: inputTokens.cacheRead,
  cache_creation_input_tokens: inputTokens.cacheWrite,
});

export interface PartsDeps {
  readonly protocol: Protocol;
  readonly model: string;
  /** Name of the provider in the metadata that this SDK writes, and the one that it reads. */
  readonly metadata: { readonly written: string; readonly read: string };
}

export function createPartReader({ protocol, model, metadata }: PartsDeps) {
  const indexes = new Map<string, number>();
  let next = 0;
  const opened = (id: string) => {
    indexes.set(id, next);
    return next++;
  };
  const at = (id: string) => indexes.get(id) ?? null;

  function sealedOf(given: SharedV3ProviderMetadata | undefined): Sealed | null {
    const data = given?.[metadata.written];
    return data === undefined || Object.keys(data).length === 0
      ? null
      : { protocol, model, data: { [metadata.read]: data } };
  }
  const seal = (index: number | null, given: SharedV3ProviderMetadata | undefined): WireEvent[] => {
    const sealed = sealedOf(given);
    return sealed ? [{ kind: 'delta', index, delta: { kind: 'sealed', sealed } }] : [];
  };

  return function read(part: LanguageModelV3StreamPart): readonly WireEvent[] {
    switch (part.type) {
      case 'response-metadata':
        return [{ kind: 'begin', usage: undefined, content: [] }];
      case 'text-start':
        return [{ kind: 'block', index: opened(part.id), block: { kind: 'text', text: '' } }];
      case 'text-delta':
        return [{ kind: 'delta', index: at(part.id), delta: { kind: 'text', text: part.delta } }];
      case 'reasoning-start': {
        const index = opened(part.id);
        return [
          { kind: 'block', index, block: { kind: 'thinking', thinking: '', signature: '' } },
          ...seal(index, part.providerMetadata),
        ];
      }
      case 'reasoning-delta':
        return [{ kind: 'delta', index: at(part.id), delta: { kind: 'thinking', thinking: part.delta } }];
      case 'text-end':
        return [{ kind: 'block-end', index: at(part.id) }];
      case 'reasoning-end':
        return [...seal(at(part.id), part.providerMetadata), { kind: 'block-end', index: at(part.id) }];
      case 'tool-input-start':
        return [
          {
            kind: 'block',
            index: opened(`call ${part.id}`),
            block: { kind: 'call', id: part.id, name: part.toolName, input: undefined },
          },
        ];
      case 'tool-input-delta':
        return [{ kind: 'delta', index: at(`call ${part.id}`), delta: { kind: 'input', json: part.delta } }];
      case 'tool-call': {
        const open = at(`call ${part.toolCallId}`);
        const index = open ?? opened(`call ${part.toolCallId}`);
        const block = { kind: 'call', id: part.toolCallId, name: part.toolName, input: part.input } as const;
        return [
          ...(open === null ? [{ kind: 'block', index, block } as const] : []),
          ...seal(index, part.providerMetadata),
          { kind: 'block-end', index },
        ];
      }
      case 'error':
        throw new UnreadableAnswer(part.error instanceof Error ? part.error.message : 'an event cannot be read');
      case 'finish':
        return part.finishReason.unified === 'error'
          ? []
          : [{ kind: 'end', reason: reasonOf(part), usage: usageOf(part) }, { kind: 'over' }];
      case 'stream-start':
      case 'raw':
      case 'tool-input-end':
      case 'tool-result':
      case 'tool-approval-request':
      case 'file':
      case 'source':
        return [];
      default:
        return part satisfies never;
    }
  };
}
