# Untested: no Nix has built this. It only parses (`nix-instantiate --parse`). It builds from this tree by its own Cargo.lock.
{
  description = "File system, mount option and WAL advice for database servers";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      manifest = (nixpkgs.lib.importTOML ../../Cargo.toml).package;
    in
    {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = manifest.name;
          version = manifest.version;
          src = ../..;
          cargoLock.lockFile = ../../Cargo.lock;
          buildType = "dist";
          WALWISE_COMMIT = self.rev or "";
          # Most tests want root and real devices; those of the library do not.
          cargoTestFlags = [ "--lib" ];
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            installManPage assets/man/*.1
            installShellCompletion --bash assets/completions/walwise.bash --fish assets/completions/walwise.fish \
              --zsh assets/completions/_walwise
            install -Dm644 -t $out/lib/systemd/system packaging/systemd/walwise-check.service packaging/systemd/walwise-check.timer
            substituteInPlace $out/lib/systemd/system/walwise-check.service --replace-fail /usr/bin $out/bin
          '';
          meta = {
            description = manifest.description;
            license = with nixpkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "walwise";
            platforms = systems;
          };
        };
      });
    };
}
