import { useEffect, useState } from 'react';
import type { Agent } from '../../../shared/domain/agent.ts';
import { t } from '../../language/t.ts';
import { download } from '../exports/sink.ts';
import { Dialog } from '../design/dialog.tsx';
import { drawBirth } from './birth-card.ts';
import './share-birth.css';

/** Fonts that the picture is drawn with. The page may not have used them yet. */
const FONTS = ['104px "Pixelify Sans"', '30px "Inter Variable"'];

async function pictureOf(agent: Agent): Promise<Blob | null> {
  // A font that cannot be loaded is replaced by the next of its list.
  await Promise.allSettled(FONTS.map((font) => document.fonts.load(font, agent.name)));
  return await new Promise((resolve) => drawBirth(agent).toBlob(resolve, 'image/png'));
}

type Picture = 'drawing' | 'failed' | { readonly file: File; readonly url: string };

function usePicture(agent: Agent): Picture {
  const [picture, setPicture] = useState<Picture>('drawing');
  useEffect(() => {
    let isLeft = false;
    let url: string | null = null;
    void pictureOf(agent).then((blob) => {
      if (isLeft) return;
      if (blob === null) return setPicture('failed');
      url = URL.createObjectURL(blob);
      setPicture({ file: new File([blob], `${agent.name}.png`, { type: 'image/png' }), url });
    });
    return () => {
      isLeft = true;
      if (url !== null) URL.revokeObjectURL(url);
    };
  }, [agent]);
  return picture;
}

/** The picture of a birth, to share or to download. */
export default function ShareBirth({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const picture = usePicture(agent);
  const ready = typeof picture === 'object' ? picture : null;
  const canShare = ready !== null && 'canShare' in navigator && navigator.canShare({ files: [ready.file] });
  return (
    <Dialog title={t`The birth of ${agent.name}`} onClose={onClose}>
      <div className="share-birth centred-column stack gap-6">
        {picture === 'failed' && <p role="alert">{t`This browser could not draw the picture.`}</p>}
        {picture === 'drawing' && <p role="status">{t`Loading…`}</p>}
        {ready && <img className="round at-most-full" src={ready.url} alt={t`The birth of ${agent.name}`} />}
        <div className="flex wrap gap-5">
          {canShare && (
            <button
              type="button"
              className="solid"
              // A person who closes the system's dialog has cancelled.
              onClick={() => void navigator.share({ files: [ready.file] }).catch(() => undefined)}
            >{t`Share`}</button>
          )}
          <button
            type="button"
            className={canShare ? 'ghost' : 'solid'}
            disabled={!ready}
            onClick={() => ready && download(ready.file.name, ready.file)}
          >{t`Download`}</button>
        </div>
      </div>
    </Dialog>
  );
}
