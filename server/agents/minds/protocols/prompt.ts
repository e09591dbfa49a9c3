/** Our words as the AI SDK writes them for OpenAI's and Google's protocols. */
import type { LanguageModelV3CallOptions, LanguageModelV3FunctionTool, LanguageModelV3Prompt } from '@ai-sdk/provider';
import type { Protocol } from '../../../../src/shared/protocol/models.ts';
import type { MindBlock, MindMessage, MindRequest, Sealed } from '../../../contracts/mind.ts';
import { mapStrings, toWellFormed } from '../../../platform/well-formed.ts';
import { blockText, plainTools, type Shape } from '../wire.ts';

type UserPart = Extract<LanguageModelV3Prompt[number], { role: 'user' }>['content'][number];
type AssistantPart = Extract<LanguageModelV3Prompt[number], { role: 'assistant' }>['content'][number];
type ToolPart = Extract<LanguageModelV3Prompt[number], { role: 'tool' }>['content'][number];

export interface PromptDeps {
  readonly protocol: Protocol;
  readonly request: MindRequest;
  readonly shape: Shape;
}

const toText = (text: string) => ({ type: 'text', text }) as const;

function createWriter({ protocol, request, shape }: PromptDeps) {
  const text = shape.wellFormed ? toWellFormed : (raw: string) => raw;
  const names = new Map<string, string>();

  /** Signatures hold for the model that wrote them. */
  const options = (sealed: Sealed | undefined) =>
    sealed?.protocol === protocol && sealed.model === request.model ? { providerOptions: sealed.data } : {};

  /** What a message or a result shows; null: nothing. */
  function fileOf(block: MindBlock): UserPart | null {
    if (block.kind === 'picture' || (block.kind === 'tool-result' && block.picture)) {
      const { picture } = block;
      return picture ? { type: 'file', mediaType: picture.type, data: picture.data } : null;
    }
    return block.kind === 'document'
      ? { type: 'file', mediaType: 'application/pdf', data: block.data, filename: text(block.name) }
      : null;
  }

  function userParts(blocks: readonly MindBlock[]): UserPart[] {
    return blocks.flatMap((block): UserPart[] => {
      const instead = blockText(block, shape, text);
      if (instead !== null) return [toText(instead)];
      const file = fileOf(block);
      if (block.kind === 'text') return [toText(text(block.text))];
      // Results stand in a message of their own, which holds no pictures.
      if (block.kind === 'tool-result')
        return file ? [toText(`What ${names.get(block.toolUseId) ?? 'the tool'} showed:`), file] : [];
      return file ? [file] : [];
    });
  }

  function resultParts(blocks: readonly MindBlock[]): ToolPart[] {
    return blocks.flatMap((block): ToolPart[] => {
      if (block.kind !== 'tool-result' || shape.toolless) return [];
      const value = text(block.text);
      return [
        {
          type: 'tool-result',
          toolCallId: block.toolUseId,
          toolName: names.get(block.toolUseId) ?? 'tool',
          output: block.isError ? { type: 'error-text', value } : { type: 'text', value },
        },
      ];
    });
  }

  function assistantParts(blocks: readonly MindBlock[]): AssistantPart[] {
    return blocks.flatMap((block): AssistantPart[] => {
      switch (block.kind) {
        case 'text':
          return [toText(text(block.text))];
        case 'thinking': {
          const kept = options(block.sealed);
          return shape.thoughts || 'providerOptions' in kept
            ? [{ type: 'reasoning', text: text(block.thinking), ...kept }]
            : [];
        }
        case 'tool-use':
          names.set(block.toolUseId, block.name);
          if (shape.toolless) return [toText(blockText(block, shape, text) ?? '')];
          return [
            {
              type: 'tool-call',
              toolCallId: block.toolUseId,
              toolName: block.name,
              input: mapStrings(block.input, text),
              ...options(block.sealed),
            },
          ];
        default:
          return [];
      }
    });
  }

  return function messagesOf({ role, blocks }: MindMessage): LanguageModelV3Prompt {
    if (role === 'assistant') {
      const content = assistantParts(blocks);
      return content.length > 0 ? [{ role, content }] : [];
    }
    const results = resultParts(blocks);
    const content = userParts(blocks);
    return [
      ...(results.length > 0 ? [{ role: 'tool' as const, content: results }] : []),
      ...(content.length > 0 ? [{ role, content }] : []),
    ];
  };
}

function toolsOf(request: MindRequest, shape: Shape): LanguageModelV3FunctionTool[] {
  return plainTools(request.tools, shape).map(({ name, description, properties, required, definitions }) => ({
    type: 'function',
    name,
    description,
    inputSchema: {
      type: 'object',
      properties: properties as never,
      required: [...required],
      ...(definitions ? { $defs: definitions as never } : {}),
    },
  }));
}

export function callOptions(deps: PromptDeps): LanguageModelV3CallOptions {
  const { request, shape } = deps;
  const tools = toolsOf(request, shape);
  return {
    prompt: [
      { role: 'system', content: shape.wellFormed ? toWellFormed(request.system) : request.system },
      ...request.messages.flatMap(createWriter(deps)),
    ],
    maxOutputTokens: Math.min(request.maxTokens, shape.maxTokens),
    ...(tools.length > 0 ? { tools } : {}),
  };
}
