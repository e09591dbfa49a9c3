/** Attachments of a message: small in the conversation, large in a dialog. Nothing in them runs. */
import { errorText } from '../../state/ports.ts';
import { useEffect, useState } from 'react';
import { isPicture, type Attachment } from '../../../shared/domain/attachment.ts';
import { t } from '../../language/t.ts';
import { onAttachment, readAttachment } from '../../state/attachments.ts';
import { useRoost } from '../context.tsx';
import { Dialog } from '../design/dialog.tsx';
import { bytes, count } from '../text/sizes.ts';
import './shown.css';

type Content =
  | { readonly kind: 'loading' }
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'here'; readonly blob: Blob; readonly url: string };

/** Types that a browser only shows as pixels or saves. Everything else is treated as text. */
const INERT: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'application/pdf']);

function useContent(file: Attachment): Content {
  const { dataWorker } = useRoost();
  const { attachmentId, bytes: size, mediaType } = file;
  const [content, setContent] = useState<Content>({ kind: 'loading' });
  useEffect(() => {
    let over = false;
    let url: string | null = null;
    const read = async () => {
      try {
        const data = await readAttachment(dataWorker, { attachmentId, bytes: size });
        if (over || url !== null) return;
        if (data === null) return setContent({ kind: 'elsewhere' });
        const type = INERT.has(mediaType) ? mediaType : 'text/plain;charset=utf-8';
        const blob = new Blob([Uint8Array.from(atob(data), (each) => each.charCodeAt(0))], { type });
        url = URL.createObjectURL(blob);
        setContent({ kind: 'here', blob, url });
      } catch (error) {
        if (!over) setContent({ kind: 'failed', why: errorText(error) });
      }
    };
    void read();
    const stop = onAttachment(dataWorker, attachmentId, () => void read());
    return () => {
      over = true;
      stop();
      if (url !== null) URL.revokeObjectURL(url);
    };
  }, [dataWorker, attachmentId, size, mediaType]);
  return content;
}

/** Characters of a text that are shown. */
const SHOWN_CHARACTERS = 200_000;
function TextOf({ blob, name }: { blob: Blob; name: string }) {
  const [text, setText] = useState('');
  useEffect(() => {
    let over = false;
    void blob.text().then((read) => over || setText(read));
    return () => {
      over = true;
    };
  }, [blob]);
  return (
    <>
      {/* Scrollable where it is too wide, by keyboard too. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre className="attachment-text scroll text-2" tabIndex={0} aria-label={t`Text of ${name}`}>
        {text.slice(0, SHOWN_CHARACTERS)}
      </pre>
      {text.length > SHOWN_CHARACTERS && (
        <p>{t`These are the first ${count(SHOWN_CHARACTERS)} of ${count(text.length)} characters. Save it to read the rest.`}</p>
      )}
    </>
  );
}

/** Placeholder of a file that cannot be shown. */
function away(content: Exclude<Content, { kind: 'here' }>): string {
  switch (content.kind) {
    case 'loading':
      return t`Loading…`;
    case 'elsewhere':
      return t`This file is not here yet. It follows from your other device after the messages.`;
    case 'failed':
      return t`Could not load this. ${content.why}`;
    default:
      return content satisfies never;
  }
}

const isShown = ({ mediaType }: Attachment) => isPicture(mediaType) && INERT.has(mediaType);

/** The enlarged picture or the text, with a button that saves it. */
function Opened({ file, content, onClose }: { file: Attachment; content: Content; onClose: () => void }) {
  const { name, mediaType } = file;
  return (
    <Dialog title={name} shape="wide" onClose={onClose}>
      {content.kind !== 'here' ? (
        <p role="status">{away(content)}</p>
      ) : (
        <>
          {isShown(file) ? (
            <img className="attachment-large at-most-full block" src={content.url} alt={name} />
          ) : (
            mediaType !== 'application/pdf' && <TextOf blob={content.blob} name={name} />
          )}
          <p>
            <a className="ghost" href={content.url} download={name}>{t`Download`}</a>
          </p>
        </>
      )}
    </Dialog>
  );
}

function About({ file }: { file: Attachment }) {
  return (
    <>
      <span className="attachment-name break">{file.name}</span>
      <small>{bytes(file.bytes)}</small>
    </>
  );
}

const openLabel = ({ name, bytes: size }: Attachment) => t`Open ${name}, ${bytes(size)}`;

function Picture({ file }: { file: Attachment }) {
  const content = useContent(file);
  const [open, setOpen] = useState(false);
  if (content.kind !== 'here')
    return (
      <li className="attachment attachment-away centred-row pad">
        <About file={file} />
        <small role="status">{away(content)}</small>
      </li>
    );
  return (
    <li className="attachment">
      <button type="button" aria-label={openLabel(file)} onClick={() => setOpen(true)}>
        <img src={content.url} alt={file.name} width={file.width} height={file.height} />
      </button>
      {open && <Opened file={file} content={content} onClose={() => setOpen(false)} />}
    </li>
  );
}

function ReadAndOpened(props: { file: Attachment; onClose: () => void }) {
  return <Opened {...props} content={useContent(props.file)} />;
}

/** A PDF or a text. It is read only when opened. */
function Other({ file }: { file: Attachment }) {
  const [open, setOpen] = useState(false);
  return (
    <li className="attachment">
      <button type="button" aria-label={openLabel(file)} onClick={() => setOpen(true)}>
        <About file={file} />
      </button>
      {open && <ReadAndOpened file={file} onClose={() => setOpen(false)} />}
    </li>
  );
}

export default function ShownAttachments({ files }: { files: readonly Attachment[] }) {
  return (
    <ul className="attachments flex wrap gap-4" aria-label={t`Attached`}>
      {files.map((file, i) =>
        isShown(file) ? (
          <Picture key={`${file.attachmentId}:${i}`} file={file} />
        ) : (
          <Other key={`${file.attachmentId}:${i}`} file={file} />
        ),
      )}
    </ul>
  );
}
