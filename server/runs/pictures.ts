/** Pictures that tools have shown, as a mind has them before it: they are dear, and a request has room for few. */
import type { MindBlock, MindMessage } from '../minds/index.ts';

/** Of pictures that tools have shown, the newest are before a mind: so many, and characters of base64. A request to the Messages API has room for 32 MB and 100 of them. */
export const SHOWN_PICTURES = { most: 20, characters: 16_000_000 } as const;
/** A picture takes as much of a window as so many characters. */
export const PICTURE_CHARACTERS = 6_400;

type ResultBlock = Extract<MindBlock, { kind: 'tool-result' }>;

const NOT_SHOWN_NOW = '[The picture is not before you any more. Look at it again where you need it.]';
export const withoutPicture = ({ kind, toolUseId, text, isError }: ResultBlock): ResultBlock => ({
  kind,
  toolUseId,
  text: `${text}\n${NOT_SHOWN_NOW}`,
  isError,
});

/** With the newest pictures alone. */
export function withNewestPictures(messages: readonly MindMessage[]): MindMessage[] {
  let count = 0;
  let characters = 0;
  const seen = (block: MindBlock): MindBlock => {
    if (block.kind !== 'tool-result' || !block.picture) return block;
    count += 1;
    characters += block.picture.data.length;
    return count > SHOWN_PICTURES.most || characters > SHOWN_PICTURES.characters ? withoutPicture(block) : block;
  };
  return messages
    .toReversed()
    .map((message) => ({ ...message, blocks: message.blocks.toReversed().map(seen).toReversed() }))
    .toReversed();
}
