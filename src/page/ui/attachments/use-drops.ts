import { useEffect, useRef, type RefObject } from 'react';
import { droppedFiles } from '../parts/dropped.ts';
import './drops.css';

const holdsFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true;

/**
 * Files may be dropped anywhere on the conversation that holds `inside`, which shows that while
 * they are over it. `onFiles` null: it takes none, and the browser does not leave the page for them
 * either.
 */
export function useDrops(
  inside: RefObject<HTMLElement | null>,
  onFiles: ((files: Promise<readonly File[]>) => void) | null,
): void {
  const take = useRef(onFiles);
  useEffect(() => {
    take.current = onFiles;
  });
  useEffect(() => {
    const place = inside.current?.closest<HTMLElement>('.chat');
    if (!place) return undefined;
    // Entered and not left: what lies inside is entered before the one around it is left.
    let over = 0;
    const show = () => {
      if (over > 0 && take.current !== null) place.dataset['drops'] = 'true';
      else delete place.dataset['drops'];
    };
    const onEnter = (event: DragEvent) => {
      if (!holdsFiles(event)) return;
      over += 1;
      show();
    };
    const onLeave = (event: DragEvent) => {
      if (!holdsFiles(event)) return;
      over = Math.max(0, over - 1);
      show();
    };
    // Without this the browser takes them for itself.
    const onOver = (event: DragEvent) => {
      if (holdsFiles(event)) event.preventDefault();
    };
    const onDrop = (event: DragEvent) => {
      over = 0;
      show();
      if (!holdsFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer) take.current?.(droppedFiles(event.dataTransfer));
    };
    place.addEventListener('dragenter', onEnter);
    place.addEventListener('dragleave', onLeave);
    place.addEventListener('dragover', onOver);
    place.addEventListener('drop', onDrop);
    return () => {
      over = 0;
      delete place.dataset['drops'];
      place.removeEventListener('dragenter', onEnter);
      place.removeEventListener('dragleave', onLeave);
      place.removeEventListener('dragover', onOver);
      place.removeEventListener('drop', onDrop);
    };
  }, [inside]);
}
