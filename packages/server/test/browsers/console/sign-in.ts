/** Signs in to the console with a token, through its form. */
import type { Page } from 'playwright-core';

export const signInWith = async (page: Page, token: string): Promise<void> => {
  await page.getByRole('button', { name: 'Use a token instead' }).click();
  await page.getByLabel('Server token or viewer token').fill(token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('navigation', { name: 'Console' }).waitFor();
};
