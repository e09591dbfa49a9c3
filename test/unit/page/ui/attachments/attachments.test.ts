import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { moves, pdfFacts, type PdfFacts } from '../../../../../src/page/ui/attachments/prepare.ts';
import { sightNote } from '../../../../../src/page/ui/attachments/sight-note.tsx';

const bytes = (text: string) => Uint8Array.from(text, (sign) => sign.charCodeAt(0));
const MOMENT = '\x21\xf9\x04\x00\x0a\x00\x00\x00,pixels!';

it.each([
  ['a GIF of two moments', `GIF89a${MOMENT}${MOMENT}`, true],
  ['a GIF of one', `GIF89a${MOMENT}`, false],
  ['a GIF whose pixels look like it', `GIF89a${MOMENT}\x21\xf9\x04\x00\x0a\x00\x00\x07`, false],
  ['a PNG that moves', '\x89PNG\r\n\x1a\nIHDR…acTL…IDAT', true],
  ['a PNG', '\x89PNG\r\n\x1a\nIHDR…IDAT', false],
  ['a WebP that moves', 'RIFF....WEBPVP8X..........ANIM', true],
  ['a WebP', 'RIFF....WEBPVP8 ', false],
  ['a JPEG', '\xff\xd8\xff', false],
])('%s', (_, text, is) => expect(moves(bytes(text))).toBe(is));

describe('a PDF', () => {
  const packed = (objects: string) => {
    const inside = deflateSync(Buffer.from(objects));
    return Buffer.concat([
      Buffer.from(`7 0 obj <</Type/ObjStm/N 3/First 12/Filter/FlateDecode/Length ${inside.length}>> stream\r\n`),
      inside,
      Buffer.from('\r\nendstream endobj\n'),
    ]);
  };
  const plain = (objects: string) => Buffer.from(`%PDF-1.7\n${objects}\n`);
  const pages = (many: number) => '<</Type /Page/Parent 2 0 R>>\n'.repeat(many);

  it.each<[string, Buffer, PdfFacts]>([
    ['with its pages as they are', plain(`<</Type/Pages/Count 3>>${pages(3)}`), { pages: 3, locked: false }],
    [
      'with its pages packed',
      Buffer.concat([plain(''), packed(pages(40)), packed(pages(2))]),
      { pages: 42, locked: false },
    ],
    [
      'that is damaged behind its first pages',
      Buffer.concat([plain(pages(1)), packed(pages(9)).subarray(0, 90)]),
      { pages: 1, locked: false },
    ],
    ['of which nothing can be told', plain('nothing'), { pages: null, locked: false }],
    ['that is locked', plain(`${pages(1)}trailer <</Root 1 0 R /Encrypt 9 0 R>>`), { pages: 1, locked: true }],
  ])('%s', async (_, file, facts) => expect(await pdfFacts(Uint8Array.from(file))).toEqual(facts));

  it('says when a PDF has more pages than a model reads, and that the demo reads none', () => {
    const file = { name: 'plan.pdf', mediaType: 'application/pdf', pages: 240 };
    const haiku = { id: 'claude-haiku-4-5', name: 'Haiku 4.5' };
    expect(sightNote(haiku, [file])).toBe(
      'plan.pdf: 240 pages. Haiku 4.5 reads 100 at once, and would be told only the name. Attach less, or choose a model that reads more.',
    );
    expect(sightNote({ id: 'claude-sonnet-5-5', name: 'Sonnet 5.5' }, [file])).toBeNull();
    expect(sightNote({ id: 'llama', name: 'Llama' }, [file])).toBeNull();
    expect(sightNote('demo', [file])).toBe('No model is connected. The demo reads only the names of files.');
    expect(sightNote('demo', [{ name: 'a.py', mediaType: 'text/plain' }])).toBeNull();
  });
});
