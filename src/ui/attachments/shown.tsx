/** Pictures and files that came with a message: small in the conversation, large in a dialog. Nothing of them runs. */
import { useEffect, useState } from 'react';
import { isPicture, type Attachment } from '../../domain/attachment.ts';
import { t } from '../../language/t.ts';
import { onAttachment, readAttachment } from '../../state/attachments.ts';
import { useRoost } from '../context.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { bytes } from '../text/sizes.ts';
import './shown.css';

type Content =
  | { readonly kind: 'loading' }
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'here'; readonly blob: Blob; readonly url: string };

/** Types that a browser only ever shows as pixels, or hands over to be saved; all else is text to it. */
const INERT: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'application/pdf']);

function useContent(file: Attachment): Content {
  const { owner } = useRoost();
  const { attachmentId, bytes: size, mediaType } = file;
  const [content, setContent] = useState<Content>({ kind: 'loading' });
  useEffect(() => {
    let over = false;
    let url: string | null = null;
    const look = async () => {
      try {
        const data = await readAttachment(owner, { attachmentId, bytes: size });
        if (over || url !== null) return;
        if (data === null) return setContent({ kind: 'elsewhere' });
        const type = INERT.has(mediaType) ? mediaType : 'text/plain;charset=utf-8';
        const blob = new Blob([Uint8Array.from(atob(data), (each) => each.charCodeAt(0))], { type });
        url = URL.createObjectURL(blob);
        setContent({ kind: 'here', blob, url });
      } catch (error) {
        if (!over) setContent({ kind: 'failed', why: error instanceof Error ? error.message : String(error) });
      }
    };
    void look();
    const stop = onAttachment(owner, attachmentId, () => void look());
    return () => {
      over = true;
      stop();
      if (url !== null) URL.revokeObjectURL(url);
    };
  }, [owner, attachmentId, size, mediaType]);
  return content;
}

/** Characters of a text that are shown. */
const SHOWN_CHARACTERS = 200_000;
function TextOf({ blob, name }: { blob: Blob; name: string }) {
  const [text, setText] = useState('');
  useEffect(() => {
    let over = false;
    void blob.text().then((read) => over || setText(read.slice(0, SHOWN_CHARACTERS)));
    return () => {
      over = true;
    };
  }, [blob]);
  return (
    // Scrolls by itself where it is too wide, by keyboard too.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre className="attachment-text" tabIndex={0} aria-label={t`Text of ${name}`}>
      {text}
    </pre>
  );
}

/** What stands in the place of one that cannot be shown. */
function away(content: Exclude<Content, { kind: 'here' }>): string {
  switch (content.kind) {
    case 'loading':
      return t`Reading it…`;
    case 'elsewhere':
      return t`Still on the other device`;
    case 'failed':
      return t`It could not be read: ${content.why}`;
    default:
      return content satisfies never;
  }
}

function One({ file }: { file: Attachment }) {
  const content = useContent(file);
  const [open, setOpen] = useState(false);
  const { name, mediaType } = file;
  const about = (
    <>
      <span className="attachment-name">{name}</span>
      <small>{bytes(file.bytes)}</small>
    </>
  );
  if (content.kind !== 'here')
    return (
      <li className="attachment attachment-away">
        {about}
        <small role="status">{away(content)}</small>
      </li>
    );
  const picture = isPicture(mediaType) && INERT.has(mediaType);
  return (
    <li className="attachment">
      <button type="button" aria-label={t`Open ${name}, ${bytes(file.bytes)}`} onClick={() => setOpen(true)}>
        {picture ? <img src={content.url} alt={name} width={file.width} height={file.height} /> : about}
      </button>
      {open && (
        <Dialog title={name} shape="wide" onClose={() => setOpen(false)}>
          {picture ? (
            <img className="attachment-large" src={content.url} alt={name} />
          ) : mediaType === 'application/pdf' ? (
            <p>{t`Save it to read it: nothing of a PDF is run here.`}</p>
          ) : (
            <TextOf blob={content.blob} name={name} />
          )}
          <p>
            <a className="ghost" href={content.url} download={name}>{t`Save (${bytes(file.bytes)})`}</a>
          </p>
        </Dialog>
      )}
    </li>
  );
}

export default function ShownAttachments({ files }: { files: readonly Attachment[] }) {
  return (
    <ul className="attachments" aria-label={t`Attached`}>
      {files.map((file, i) => (
        <One key={`${file.attachmentId}:${i}`} file={file} />
      ))}
    </ul>
  );
}
