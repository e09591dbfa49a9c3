addEventListener('connect', () => undefined);
