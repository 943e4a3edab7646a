/** Takes screenshots in WebP format. */
import type { Page } from 'playwright-core';

const quality = 0.8;

/** Takes a WebP screenshot. Playwright does not support WebP, so Chromium re-encodes a PNG in a separate page. */
export const takeWebP = async (page: Page): Promise<Buffer> => {
  const png = await page.screenshot();
  const encoderPage = await page.context().newPage();
  try {
    const encode = `(async () => {
      const image = new Image();
      image.src = 'data:image/png;base64,${png.toString('base64')}';
      await image.decode();
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
      canvas.getContext('2d', { alpha: false }).drawImage(image, 0, 0);
      return canvas.toDataURL('image/webp', ${quality});
    })()`;
    const url = await encoderPage.evaluate<string>(encode);
    return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
  } finally {
    await encoderPage.close();
  }
};
