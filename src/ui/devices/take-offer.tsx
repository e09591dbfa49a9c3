import { useEffect, useRef, useState } from 'react';
import { DropZone } from '../parts/drop-zone.tsx';
import { PasteText } from './paste-text.tsx';
import { readPicture } from './pixels.ts';
import { Scan } from './scan.tsx';
import { Wrong } from './wrong.tsx';

/** How an offer begins, whatever stands around it; what else it holds is the owner's affair. */
const OFFER = /roost\s*\d+\s*\./iu;

/** Pictures that are pasted anywhere while this is shown. */
function usePastedPicture(onFile: (file: File) => void) {
  const take = useRef(onFile);
  useEffect(() => {
    take.current = onFile;
  });
  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      const file = [...(event.clipboardData?.files ?? [])].find(({ type }) => type.startsWith('image/'));
      if (!file) return;
      event.preventDefault();
      take.current(file);
    };
    document.addEventListener('paste', paste);
    return () => document.removeEventListener('paste', paste);
  }, []);
}

/** Ways to bring an offer here from the other device: by the camera, as a picture, as text. */
export function TakeOffer({ onOffer }: { onOffer: (offer: string) => void }) {
  const [unread, setUnread] = useState<string | null>(null);
  const [looking, setLooking] = useState(false);
  const takeCode = (code: string) => {
    if (OFFER.test(code)) onOffer(code);
    else setUnread('There is a code, but not one of Roost. It is the one that the new device shows.');
  };
  const picture = async (file: Blob) => {
    setLooking(true);
    setUnread(null);
    const read = await readPicture(file);
    setLooking(false);
    if (read.ok) takeCode(read.text);
    else setUnread(read.reason);
  };
  usePastedPicture((file) => void picture(file));
  const takeText = (text: string) => {
    if (!OFFER.test(text))
      return 'This is not an offer of Roost. It begins with ROOST1. and stands under the code on the new device.';
    onOffer(text);
    return null;
  };
  return (
    <section className="devices-block" aria-label="Here">
      <h3>Here</h3>
      <Scan onRead={takeCode} />
      <DropZone label="Choose a picture of the code" accept="image/*" onFile={(file) => void picture(file)}>
        {looking ? 'Looking for the code…' : 'or drop or paste it here: a photo or a screenshot'}
      </DropZone>
      {unread !== null && <Wrong title="No offer was found." reason={unread} />}
      <PasteText label="The text under the code" placeholder="ROOST1.…" button="Take it" onText={takeText} />
    </section>
  );
}
