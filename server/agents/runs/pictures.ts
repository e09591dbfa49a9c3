/**
 * Pictures and PDFs as a mind has them before it, which tools have shown or the person has sent:
 * they are dear, and a request has room for few.
 */
import type { SentAttachment } from '../../../src/shared/domain/attachment.ts';
import { writeSaid } from '../../../src/shared/domain/quoting.ts';
import type { MindBlock, MindMessage } from '../minds/index.ts';

/**
 * Of all of them, the newest are before a mind: so many, and characters of base64. A request to the
 * Messages API has room for 32 MB and 100 pictures; what the person sends with one message fits.
 */
const SHOWN_PICTURES = { most: 20, characters: 27_000_000 } as const;
/** A picture takes as much of a window as so many characters. */
export const PICTURE_CHARACTERS = 6_400;
/**
 * Of a PDF, so many characters of base64 take as much of a window as one: nobody knows its pages
 * before it is read.
 */
const PDF_SHARE = 10;

type ResultBlock = Extract<MindBlock, { kind: 'tool-result' }>;
type SentBlock = Extract<MindBlock, { kind: 'picture' | 'document' }>;

const NOT_SHOWN_NOW = '[The picture is not before you any more. Look at it again where you need it.]';
export const withoutPicture = ({ kind, toolUseId, text, isError }: ResultBlock): ResultBlock => ({
  kind,
  toolUseId,
  text: `${text}\n${NOT_SHOWN_NOW}`,
  isError,
});
/** In its place, when there is no room for it any more. */
export const letGo = ({ name }: SentBlock): MindBlock => ({
  kind: 'text',
  text: `[${name} is not before you any more. Ask for it again where you need it.]`,
});

const dataOf = (block: SentBlock) => (block.kind === 'picture' ? block.picture.data : block.data);
/** About as much of a window as so many characters of words. */
export const charactersOf = (block: SentBlock): number =>
  block.kind === 'picture' ? PICTURE_CHARACTERS : PICTURE_CHARACTERS + Math.ceil(block.data.length / PDF_SHARE);

/**
 * What the person sent, as a mind is given it behind the words that name it: texts as somebody's
 * words.
 */
export function attachmentBlocks({ name, mediaType, data }: SentAttachment): MindBlock[] {
  if (mediaType === 'application/pdf') return [{ kind: 'document', name, data }];
  if (mediaType !== 'text/plain') return [{ kind: 'picture', name, picture: { type: mediaType, data } }];
  const text = Buffer.from(data, 'base64').toString('utf8');
  return [{ kind: 'text', text: writeSaid({ head: `[Text of ${name}]`, text }) }];
}

/** With the newest pictures and PDFs alone. */
export function withNewestPictures(messages: readonly MindMessage[]): MindMessage[] {
  let count = 0;
  let characters = 0;
  const fits = (data: string) => {
    count += 1;
    characters += data.length;
    return count <= SHOWN_PICTURES.most && characters <= SHOWN_PICTURES.characters;
  };
  const seen = (block: MindBlock): MindBlock => {
    if (block.kind === 'picture' || block.kind === 'document') return fits(dataOf(block)) ? block : letGo(block);
    return block.kind === 'tool-result' && block.picture && !fits(block.picture.data) ? withoutPicture(block) : block;
  };
  return messages
    .toReversed()
    .map((message) => ({ ...message, blocks: message.blocks.toReversed().map(seen).toReversed() }))
    .toReversed();
}
