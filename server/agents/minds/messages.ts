/** The messages and tools of a request to a model. */
import type { SharedV3ProviderOptions } from '@ai-sdk/provider';
import type Anthropic from '@anthropic-ai/sdk';
import type { Picture } from '../../../src/shared/domain/attachment.ts';
import type { Protocol } from '../../../src/shared/protocol/models.ts';

/** Opaque provider data of a block. It must be sent back unchanged to the model that wrote it. */
export interface Sealed {
  readonly protocol: Protocol;
  readonly model: string;
  readonly data: SharedV3ProviderOptions;
}

export type MindBlock =
  | { readonly kind: 'text'; readonly text: string }
  /** An attachment of the person. */
  | { readonly kind: 'picture'; readonly name: string; readonly picture: Picture }
  /** A PDF, in base64. */
  | { readonly kind: 'document'; readonly name: string; readonly data: string }
  /**
   * Stored to be sent back unchanged within a tool loop. Its text is shown as a call of `THOUGHT`.
   * A block with an empty signature cannot be sent back.
   */
  | { readonly kind: 'thinking'; readonly thinking: string; readonly signature: string; readonly sealed?: Sealed }
  | { readonly kind: 'redacted-thinking'; readonly data: string }
  /**
   * A tool search that the model ran itself, or its result. Stored as the provider wrote it and
   * sent back unchanged. Never shown.
   */
  | { readonly kind: 'tool-search'; readonly block: ToolSearchBlock }
  /** A web search or page read that the provider ran, or its result. Shown as tool calls. */
  | { readonly kind: 'web'; readonly block: WebBlock }
  | {
      readonly kind: 'tool-use';
      readonly toolUseId: string;
      readonly name: string;
      readonly input: unknown;
      /** The input cannot be parsed, so the call must not run. The text tells the model why. */
      readonly unreadable?: string;
      readonly sealed?: Sealed;
    }
  | {
      readonly kind: 'tool-result';
      readonly toolUseId: string;
      readonly text: string;
      readonly isError: boolean;
      readonly picture?: Picture;
    };

/** A use of the provider's own web tools, or its result. */
export type WebBlock = Extract<
  Anthropic.ContentBlock,
  { type: 'server_tool_use' | 'web_search_tool_result' | 'web_fetch_tool_result' }
>;

export type ToolSearchBlock = Extract<Anthropic.ContentBlock, { type: 'server_tool_use' | 'tool_search_tool_result' }>;

export interface MindMessage {
  readonly role: 'user' | 'assistant';
  readonly blocks: readonly MindBlock[];
}

export interface MindTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input, an object. */
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
  /** What `#/$defs/…` in the properties refers to. */
  readonly definitions?: Readonly<Record<string, unknown>>;
  /**
   * A deferred tool. A request lists it once `find_tool`, or the model's own search, has `found`
   * it.
   */
  readonly waits?: 'unseen' | 'found';
  /** For a deferred tool: it is deferred only where the model does not search by itself. */
  readonly roomy?: true;
  /** This tool finds the deferred ones. A model with its own tool search gets that instead. */
  readonly finds?: true;
  /** The model's provider runs this tool itself. Minds of other providers do not see it. */
  readonly provider?: 'web_search' | 'web_fetch';
}
