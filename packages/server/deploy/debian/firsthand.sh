#!/bin/sh
# Runs Firsthand with the settings of the service. Switches from root to the service's user, who owns all files, except
# for setup, which needs root.
set -e
home=/usr/lib/firsthand
set -- "$home/bin/node" "$home/node_modules/firsthand/bin/firsthand.js" --settings-file /etc/firsthand.env "$@"
if [ "$(id -u)" = 0 ] && [ "$5" != setup ]; then
  exec setpriv --reuid firsthand --regid firsthand --init-groups -- "$@"
fi
exec "$@"
